//! The Windows program as Windows programs meet it: started by one of them, with
//! a program of the test's own in place of the sandbox.
//!
//! Runs under Wine, each test in a Windows of its own, and as far as it changes
//! nothing of the system on Windows itself.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    catalog_server::CatalogServer,
    client::{Client, PATIENCE, Start, program, wait_for_file},
    inapplicable::Inapplicable,
    texts::{filled, text, wsb},
};

const SYSTEM_DIRECTORY: &str = r"C:\windows\system32";
/// Where a Korean user's temporary files are.
const KOREAN_TEMP: &str = r"C:\users\홍길동\AppData\Local\Temp";
const SPACED_TEMP: &str = r"C:\users\Hong Gildong\App Data\Temp";

/// A Windows with a catalog at hand and a folder for the test's own files.
struct Machine {
    catalog: CatalogServer,
    /// The folder that Wine keeps this Windows in.
    prefix: Option<PathBuf>,
    /// The test's own folder by its real name, and what removes it.
    root: PathBuf,
    _folder: TempDir,
    specifications: AtomicU32,
}

impl Machine {
    fn new() -> Self {
        // The copy of a prefix has to lie on the same disk for its files to be shared with it.
        let original = std::env::var_os("WINEPREFIX").map(PathBuf::from);
        let folder = match original
            .as_deref()
            .filter(|_| cfg!(unix))
            .and_then(Path::parent)
        {
            Some(beside) => TempDir::with_prefix_in("wine-", beside),
            None => TempDir::new(),
        }
        .unwrap();
        let prefix = original.filter(|_| cfg!(unix)).map(|original| {
            let copy = folder.path().join("prefix");
            // The registry's files, which Wine replaces, and all the programs, which nobody writes to.
            let mut command = Command::new("cp");
            let copied = command.args(["-a", "-l"]).arg(original).arg(&copy).status();
            assert!(copied.unwrap().success());
            // Left alone, it ends some seconds after the last program, and one that starts just then finds an old
            // registry or no server.
            wine_server(&copy, &["--persistent"]);
            // The first program starts services, which keep its streams open for as long as the server stays.
            let first = Start::new().env("WINEPREFIX", &copy).args(["--version"]);
            let mut first = first.command();
            first.stdin(Stdio::null()).stdout(Stdio::null());
            assert!(first.stderr(Stdio::null()).status().unwrap().success());
            copy
        });
        Self {
            catalog: CatalogServer::start(),
            prefix,
            root: dunce::canonicalize(folder.path()).unwrap(),
            _folder: folder,
            specifications: AtomicU32::new(0),
        }
    }

    /// Where we find what the program under test finds at a path.
    fn host(&self, path: &str) -> PathBuf {
        let Some(prefix) = &self.prefix else {
            return PathBuf::from(path);
        };
        let (drive, rest) = path.split_once(r":\").unwrap_or_else(|| panic!("{path}"));
        let drive = prefix.join("dosdevices").join(drive.to_lowercase() + ":");
        drive.join(rest.replace('\\', "/"))
    }

    /// Where the program under test finds a file of ours.
    fn guest(&self, path: &Path) -> String {
        let path = path.to_str().unwrap();
        match self.prefix {
            Some(_) => format!("Z:{}", path.replace('/', r"\")),
            None => path.to_owned(),
        }
    }

    /// A folder for files that the program under test and the test share, as the program sees it.
    fn shared(&self, name: &str) -> String {
        let path = self.root.join(name);
        fs::create_dir_all(&path).unwrap();
        self.guest(&path)
    }

    /// Makes a folder at a path of the program's.
    fn make(&self, path: &str) {
        fs::create_dir_all(self.host(path)).unwrap();
    }

    /// A copy of the stand-in at a path of the program's.
    fn stand_in(&self, path: &str) {
        let to = self.host(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(helper("stand-in"), to).unwrap();
    }

    fn start(&self) -> Start {
        let mut start = Start::with(&self.catalog);
        if let Some(prefix) = &self.prefix {
            start = start.env("WINEPREFIX", prefix);
        }
        start
    }

    /// Starts a program through one for Windows, which does as these words say.
    fn by_client(&self, specification: &Value) -> Start {
        let number = self.specifications.fetch_add(1, Ordering::Relaxed);
        let file = self.root.join(format!("{number}.json"));
        fs::write(&file, specification.to_string()).unwrap();
        let start = self.start().program(helper("windows-client"));
        start.args([self.guest(&file)])
    }

    /// A server with these variables and no others but the few that no program goes without.
    fn server_with(&self, variables: &[(&str, &str)]) -> Start {
        self.server_in(SYSTEM_DIRECTORY, variables)
    }

    fn server_in(&self, folder: &str, variables: &[(&str, &str)]) -> Start {
        self.by_client(&json!({
            "mode": "run",
            "program": self.guest(&program()),
            "environment": self.environment(variables),
            "folder": folder,
        }))
    }

    fn environment(&self, variables: &[(&str, &str)]) -> Value {
        let system_root = std::env::var("SystemRoot").unwrap_or_else(|_| r"C:\windows".to_owned());
        let mut environment = json!({
            "SystemRoot": system_root,
            "TABLECLOTH_CATALOG_URL": self.catalog.url(),
            "STAND_IN_RECORD": self.shared("record"),
        });
        for (name, value) in variables {
            environment[name] = json!(value);
        }
        environment
    }

    /// What the stand-in wrote down of how it was started.
    fn record(&self) -> Value {
        let file = self.root.join("record/record.json");
        wait_for_file(&file);
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Lets the stand-in end, and returns once it says that it lived until now.
    fn end_stand_in(&self) {
        let folder = self.root.join("record");
        assert!(!folder.join("stopped").exists());
        fs::write(folder.join("stop"), "").unwrap();
        wait_for_file(&folder.join("stopped"));
        fs::remove_dir_all(folder).unwrap();
    }

    /// Changes what the registry says of this Windows.
    fn set_windows(&self, name: &str, value: &str) {
        let key = r"HKLM\Software\Microsoft\Windows NT\CurrentVersion";
        let start = self.start().program("reg");
        let words = ["add", key, "/v", name, "/d", value, "/f"];
        assert_eq!(start.args(words).run().code, Some(0));
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(prefix) = &self.prefix {
            // What still runs in this Windows ends with its server, which would write to the folder.
            wine_server(prefix, &["--kill", "--wait"]);
        }
    }
}

/// Tells the process that all programs in a folder of Wine's share.
fn wine_server(prefix: &Path, arguments: &[&str]) {
    let places = [
        "/usr/lib/wine/wineserver64",
        "/usr/lib/wine/wineserver",
        "wineserver",
    ];
    let place = places.iter().find(|place| Path::new(place).exists());
    let _ = Command::new(place.unwrap_or(&"wineserver"))
        .args(arguments)
        .env("WINEPREFIX", prefix)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// A program of the package `test-programs`, which is built beside the program under test.
fn helper(name: &str) -> PathBuf {
    let path = program().with_file_name(format!("{name}.exe"));
    assert!(path.exists(), "no {}: build the workspace", path.display());
    path
}

fn launch(client: &mut Client) -> Value {
    client.call("launch_sandbox", &json!({"serviceIds": ["Tax24"]}))
}

/// The path of the sandbox file in an answer, which is plain and in this folder.
#[track_caller]
fn wsb_path<'a>(answer: &'a Value, folder: &str) -> &'a str {
    let path = answer["wsbPath"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    let name = path
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('\\'))
        .unwrap_or_else(|| panic!("{path} is not in {folder}"));
    let id = name.strip_prefix("tablecloth-");
    let id = id.and_then(|rest| rest.strip_suffix(".wsb"));
    assert!(id.is_some_and(|id| id.len() == 32), "{name}");
    path
}

#[track_caller]
fn assert_started(record: &Value, path: &str, folder: &str) {
    assert_eq!(record["arguments"], json!([path]));
    assert_eq!(record["content"], wsb("Tax24"), "complete and readable");
    assert_eq!(record["folder"], folder);
    assert_eq!(record["handles"]["pipes"], json!([]), "none of ours");
}

#[test]
fn windows_sandbox_gets_the_file_and_nothing_of_ours() {
    if Inapplicable::OwnWindows.here() {
        return;
    }
    let machine = Machine::new();
    let sandbox = format!(r"{SYSTEM_DIRECTORY}\WindowsSandbox.exe");
    machine.stand_in(&sandbox);
    for temp in [KOREAN_TEMP, SPACED_TEMP] {
        machine.make(temp);
        let start = machine.server_with(&[("TEMP", temp), ("TMP", temp)]);
        let mut client = start.session();
        let answer = launch(&mut client);
        let path = wsb_path(&answer, temp).to_owned();
        assert_eq!(
            answer,
            json!({
                "launched": true,
                "runner": "Windows Sandbox",
                "siteIds": ["Tax24"],
                "wsbPath": path,
                "note": filled("tools.launch_sandbox.noteTemplate", &[("runner", "Windows Sandbox")]),
                "securityNote": text("sandbox.securityNote"),
            })
        );
        let content = fs::read_to_string(machine.host(&path)).unwrap();
        assert_eq!(content, wsb("Tax24"));
        let record = machine.record();
        assert_started(&record, &path, temp);
        let program = record["program"].as_str().unwrap();
        assert!(program.eq_ignore_ascii_case(&sandbox), "{program}");
        assert_eq!(record["environment"]["TEMP"], temp);

        // It lives on: the session goes on, and ends without it.
        client.assert_alive();
        client.close_input();
        client.exit_within(PATIENCE);
        assert_eq!(client.next(), None, "nobody else holds our end of stdout");
        machine.end_stand_in();
    }
}

#[test]
fn a_windows_sandbox_that_fails_at_once_is_told() {
    if Inapplicable::OwnWindows.here() {
        return;
    }
    let machine = Machine::new();
    let sandbox = format!(r"{SYSTEM_DIRECTORY}\WindowsSandbox.exe");
    machine.stand_in(&sandbox);
    machine.make(SPACED_TEMP);
    let failing = machine.server_with(&[("TEMP", SPACED_TEMP), ("STAND_IN_CODE", "3")]);
    let message = filled("tools.launch_sandbox.messageExited", &[("code", "3")]);
    let mut client = failing.session();
    // At once is a fifth of a second, in which a busy machine may not even have started it.
    let mut answers = std::iter::repeat_with(|| launch(&mut client)).take(50);
    let answer = answers.find(|answer| answer["launched"] == false).unwrap();
    let error = filled(
        "tools.launch_sandbox.runnerLaunchFailedError",
        &[("runner", "Windows Sandbox"), ("message", &message)],
    );
    assert_eq!(
        answer,
        json!({
            "launched": false,
            "error": error,
            "hint": text("tools.launch_sandbox.runnerLaunchFailedHint"),
            "runner": "Windows Sandbox",
            "wsbPath": wsb_path(&answer, SPACED_TEMP),
        })
    );
    client.assert_alive();

    // One that ends well at once may have handed the file to another.
    let start = machine.server_with(&[("TEMP", SPACED_TEMP), ("STAND_IN_CODE", "0")]);
    assert_eq!(launch(&mut start.session())["launched"], true);

    // What is no program is told without a dialog of the shell.
    fs::remove_file(machine.host(&sandbox)).unwrap();
    fs::write(machine.host(&sandbox), "no program").unwrap();
    let start = machine.server_with(&[("TEMP", SPACED_TEMP)]);
    let answer = launch(&mut start.session());
    assert_eq!(answer["launched"], false);
    assert_eq!(answer["runner"], "Windows Sandbox");
}

#[test]
fn without_windows_sandbox_no_file_is_written() {
    if Inapplicable::OwnWindows.here() {
        return;
    }
    let machine = Machine::new();
    machine.make(SPACED_TEMP);
    // A program of that name in another place is not the system's.
    machine.stand_in(r"C:\bin\WindowsSandbox.exe");
    let start = machine.server_in(r"C:\bin", &[("TEMP", SPACED_TEMP), ("PATH", r"C:\bin")]);
    for (edition, hint) in [
        ("Core", "tools.launch_sandbox.runnerWindowsHomeHint"),
        (
            "ServerStandard",
            "tools.launch_sandbox.runnerWindowsNotOfferedHint",
        ),
    ] {
        machine.set_windows("EditionID", edition);
        let mut client = start.session();
        assert_eq!(
            launch(&mut client),
            json!({
                "launched": false,
                "error": text("tools.launch_sandbox.runnerWindowsMissingError"),
                "hint": text(hint),
            })
        );
        client.assert_alive();
    }
    assert_eq!(fs::read_dir(machine.host(SPACED_TEMP)).unwrap().count(), 0);
}

#[test]
fn a_program_of_the_users_own_is_started_on_windows() {
    if Inapplicable::Windows.here() {
        return;
    }
    let machine = Machine::new();
    let folder = machine.shared("내 프로그램");
    machine.stand_in(&format!(r"{folder}\run it.exe"));
    let temp = machine.shared("temp 폴더");
    for runner in [
        format!(r"{folder}\run it.exe"),
        format!(r"{folder}\run it"),
        "run it".to_owned(),
        "RUN IT.EXE".to_owned(),
    ] {
        let start = machine.server_with(&[
            ("TEMP", &temp),
            ("TMP", &temp),
            ("PATHEXT", ".CPL"),
            ("PATH", &folder),
            ("TABLECLOTH_WSB_RUNNER", &runner),
        ]);
        let mut client = start.session();
        let answer = launch(&mut client);
        assert_eq!(answer["launched"], true, "{answer}");
        assert_eq!(answer["runner"], format!("custom ({runner})"));
        assert_started(&machine.record(), wsb_path(&answer, &temp), &temp);
        client.close_input();
        client.exit_within(PATIENCE);
        assert_eq!(client.next(), None, "nobody else holds our end of stdout");
        machine.end_stand_in();
    }
}

#[test]
fn no_command_shell_runs_on_windows() {
    if Inapplicable::Windows.here() {
        return;
    }
    let machine = Machine::new();
    let temp = machine.shared("temp");
    let trace = machine.root.join("trace");
    let content = format!("echo x > \"{}\"\r\n", machine.guest(&trace));
    for name in ["run.bat", "run.cmd", "run"] {
        fs::write(machine.root.join(name), &content).unwrap();
    }
    let at = |name: &str| machine.guest(&machine.root.join(name));
    let not_executable = "tools.launch_sandbox.messageNotExecutable";
    let not_found = "tools.launch_sandbox.messageNotFound";
    for (runner, key) in [
        (at("run.bat"), not_executable),
        (at("run.cmd"), not_executable),
        (at("run"), not_executable),
        (at("missing.exe"), not_found),
        // Not looked for in the working directory or the system's.
        ("run.bat".to_owned(), not_found),
        ("cmd.exe".to_owned(), not_found),
        (
            format!(r"C:\windows\system32\cmd.exe /c {}", at("run.bat")),
            not_found,
        ),
    ] {
        let start = machine.server_in(
            &machine.guest(&machine.root),
            &[("TEMP", &temp), ("TABLECLOTH_WSB_RUNNER", &runner)],
        );
        let answer = launch(&mut start.session());
        assert_eq!(answer["launched"], false, "{answer}");
        let message = filled(key, &[("program", &runner)]);
        let error = answer["error"].as_str().unwrap();
        assert!(error.ends_with(&message), "{error}");
    }
    assert!(!trace.exists());
}

#[test]
fn the_real_path_is_handed_on_by_windows() {
    if Inapplicable::OwnWindows.here() {
        return;
    }
    let machine = Machine::new();
    machine.stand_in(&format!(r"{SYSTEM_DIRECTORY}\WindowsSandbox.exe"));
    let real = r"C:\Packages\진짜 Temp";
    machine.make(real);
    // Wine 8 has no junctions and keeps to the drive that it is told, so here the name
    // alone is another: Windows has the real one from the same call.
    let temp = r"c:\PACKAGES\진짜 temp";
    let mut client = machine.server_with(&[("TEMP", temp)]).session();
    let answer = launch(&mut client);
    let path = wsb_path(&answer, real);
    assert_eq!(machine.record()["arguments"], json!([path]));
    assert!(machine.host(path).is_file());
}

/// Claude Desktop starts servers like this (claude-code#92515, #62574).
#[test]
fn the_environment_of_an_app_is_enough_on_windows() {
    if Inapplicable::OwnWindows.here() {
        return;
    }
    let machine = Machine::new();
    machine.stand_in(&format!(r"{SYSTEM_DIRECTORY}\WindowsSandbox.exe"));
    for folder in [SYSTEM_DIRECTORY, r"C:\"] {
        for temp in [None, Some(""), Some("relative")] {
            let mut variables = vec![("PATHEXT", ".CPL"), ("WINDIR", ""), ("STAND_IN_CODE", "0")];
            variables.extend(temp.map(|temp| ("TEMP", temp)));
            variables.extend(temp.map(|temp| ("TMP", temp)));
            let mut client = machine.server_in(folder, &variables).session();
            client.assert_alive();
            let answer = launch(&mut client);
            assert_eq!(answer["launched"], true, "{answer}");
            let path = answer["wsbPath"].as_str().unwrap();
            assert!(path.contains(r"\AppData\Local\Temp\tablecloth-"), "{path}");
            assert_eq!(
                fs::read_to_string(machine.host(path)).unwrap(),
                wsb("Tax24")
            );
            assert_eq!(machine.record()["arguments"], json!([path]));
            fs::remove_dir_all(machine.root.join("record")).unwrap();
        }
    }
}

#[test]
fn no_variables_at_all_are_enough_on_windows() {
    if Inapplicable::Windows.here() {
        return;
    }
    let machine = Machine::new();
    let start = machine.by_client(&json!({
        "mode": "run",
        "program": machine.guest(&program()),
        "environment": {},
        "folder": r"C:\",
    }));
    let mut client = start.session();
    assert!(client.request("tools/list", &json!({}))["result"].is_object());
    assert_eq!(client.finish(), "");
}

/// A copy of the program under test, whose file may go.
fn copied_program(machine: &Machine) -> String {
    let folder = machine.root.join("확장 프로그램");
    fs::create_dir_all(&folder).unwrap();
    let copy = folder.join("tablecloth-mcp.exe");
    fs::copy(program(), &copy).unwrap();
    machine.guest(&copy)
}

#[test]
fn the_program_ends_at_once_on_windows_and_its_file_can_go() {
    if Inapplicable::Windows.here() {
        return;
    }
    let machine = Machine::new();
    for how in ["endOfInput", "interrupt", "break", "close"] {
        let copy = copied_program(&machine);
        let folder = copy.rsplit_once('\\').unwrap().0;
        let finished = machine
            .by_client(&json!({
                "mode": "stop", "how": how, "program": copy, "folder": folder,
            }))
            .run();
        let seen: Value = serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|_| panic!("{how}: {}{}", finished.stdout, finished.stderr));
        let _ = writeln!(
            std::io::stderr(),
            "{how}: over after {} ms",
            seen["milliseconds"]
        );
        assert_eq!(seen["code"], 0, "{how}: {seen}");
        assert_eq!(seen["deleted"], Value::Null, "{how}: {seen}");
    }
}

/// Whether a process runs from this file.
fn is_running(program: &Path) -> bool {
    if cfg!(windows) {
        // A file can be written unless it runs.
        return fs::File::options().write(true).open(program).is_err();
    }
    // The words of Wine's processes are those of the Windows program.
    let path = format!("Z:{}", program.to_str().unwrap().replace('/', r"\"));
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|words| words.starts_with(path.as_bytes()))
}

#[test]
fn the_program_ends_with_its_client_on_windows() {
    if Inapplicable::Windows.here() {
        return;
    }
    let machine = Machine::new();
    let copy = copied_program(&machine);
    let start = machine.by_client(&json!({"mode": "hold", "program": copy}));
    let server = machine.root.join("확장 프로그램/tablecloth-mcp.exe");
    let mut client = start.command().stdin(Stdio::null()).spawn().unwrap();
    let mut first = [0];
    let mut stdout = client.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    assert!(is_running(&server));
    let start = Instant::now();
    client.kill().unwrap();
    client.wait().unwrap();
    while is_running(&server) {
        assert!(start.elapsed() < PATIENCE, "still there");
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = start.elapsed();
    let _ = writeln!(
        std::io::stderr(),
        "killed client: over after {} ms",
        took.as_millis()
    );
}

/// Consoles differ in what they tell of the second half of a wide character.
fn squeezed(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().filter(|letter| *letter != ' ').collect();
    letters.dedup();
    letters.into_iter().collect()
}

#[test]
fn a_console_shows_korean_whatever_its_code_page() {
    if Inapplicable::Windows.here() {
        return;
    }
    let machine = Machine::new();
    for code_page in [949, 65001, 437] {
        let finished = machine
            .by_client(&json!({
                "mode": "console",
                "codePage": code_page,
                "program": machine.guest(&program()),
                "arguments": ["show", "GanaBank"],
                "environment": machine.environment(&[]),
            }))
            .run();
        let seen: Value = serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|_| panic!("{}{}", finished.stdout, finished.stderr));
        assert_eq!(seen["code"], 0, "{seen}");
        assert_eq!(seen["codePages"], json!([code_page, code_page]));
        let first = seen["screen"][0].as_str().unwrap();
        assert_eq!(squeezed(first), squeezed("가나은행 개인뱅킹"), "{seen}");
    }
}

#[test]
fn doctor_says_what_windows_lacks() {
    if Inapplicable::OwnWindows.here() {
        return;
    }
    let machine = Machine::new();
    let report = || -> Value {
        let finished = machine.start().args(["doctor", "--json"]).run();
        assert_eq!(finished.stderr, "");
        serde_json::from_str(&finished.stdout).unwrap()
    };
    let find = |report: &Value, name: &str| -> Value {
        let mut findings = report["findings"].as_array().unwrap().iter();
        findings
            .find(|finding| finding["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    let hint = |key: &str| text(&format!("tools.launch_sandbox.{key}")).to_owned();
    machine.set_windows("CurrentBuildNumber", "22631");
    for (edition, build, of_edition, advice) in [
        (
            "Core",
            "22631",
            "doctor.edition.home",
            Some("runnerWindowsHomeHint"),
        ),
        (
            "CoreSingleLanguage",
            "22631",
            "doctor.edition.home",
            Some("runnerWindowsHomeHint"),
        ),
        (
            "ServerStandard",
            "20348",
            "doctor.edition.notOffered",
            Some("runnerWindowsNotOfferedHint"),
        ),
        (
            "Professional",
            "17763",
            "doctor.edition.tooOld",
            Some("runnerWindowsOldHint"),
        ),
        // What it is told depends on the processor of the machine that the test runs on.
        ("Professional", "22631", "doctor.edition.ok", None),
        ("Enterprise", "19045", "doctor.edition.ok", None),
    ] {
        machine.set_windows("EditionID", edition);
        machine.set_windows("CurrentBuildNumber", build);
        let report = report();
        assert_eq!(report["ok"], false);
        let platform = find(&report, "platform")["text"].to_string();
        assert!(
            platform.contains(edition) && platform.contains(build),
            "{platform}"
        );
        assert_eq!(
            find(&report, "edition")["text"],
            text(of_edition),
            "{edition}"
        );
        let runner = find(&report, "runner");
        assert_eq!(runner["status"], "bad");
        if let Some(key) = advice {
            assert_eq!(runner["hint"], hint(key), "{edition} {build}");
            assert_eq!(find(&report, "virtualization"), Value::Null, "of no use");
        } else {
            let advice = [
                "runnerWindowsFeatureHint",
                "runnerWindowsVirtualizationHint",
                "runnerWindowsNxHint",
            ];
            assert!(
                advice.iter().any(|key| runner["hint"] == hint(key)),
                "{runner}"
            );
            assert_ne!(find(&report, "virtualization"), Value::Null);
        }
    }
    machine.stand_in(&format!(r"{SYSTEM_DIRECTORY}\WindowsSandbox.exe"));
    let report = report();
    let runner = find(&report, "runner");
    assert_eq!(runner["status"], "ok", "{report}");
    let found = runner["text"].as_str().unwrap().to_lowercase();
    assert!(
        found.contains(r"c:\windows\system32\windowssandbox.exe"),
        "{found}"
    );
    assert_eq!(find(&report, "edition")["status"], "ok");
    assert_eq!(find(&report, "temp")["status"], "ok", "{report}");
}
