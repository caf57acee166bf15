//! Launching, with scripts of the test's own in place of a sandbox.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    catalog_server::CatalogServer,
    client::{Client, Start, wait_for_file},
    inapplicable::Inapplicable,
    texts::{filled, text, wsb},
};

/// Writes down what a runner can see of itself, into the folder named by `RECORD`.
const RECORDING: &str = r#"#!/bin/sh
printf '%s' "$#" > "$RECORD/count"
printf '%s' "$1" > "$RECORD/argument"
printf '%s' "$$" > "$RECORD/pid"
pwd -P > "$RECORD/folder"
env > "$RECORD/environment"
cp "$1" "$RECORD/content"
if [ -d /proc/self/fd ]; then
  (for stream in 0 1 2; do readlink "/proc/$$/fd/$stream"; done) > "$RECORD/streams"
  (ls -l "/proc/$$/fd") > "$RECORD/descriptors"
  sed 's/.*) //' "/proc/$$/stat" | cut -d' ' -f4 > "$RECORD/session"
fi
"#;

/// A catalog, a temporary folder and a place for runners and what they write down.
struct Bench {
    catalog: CatalogServer,
    root: TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        for folder in ["temp", "record"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self {
            catalog: CatalogServer::start(),
            root,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A script that can be run.
    fn script(&self, name: &str, content: &str) -> PathBuf {
        self.file(name, content.as_bytes(), 0o755)
    }

    fn file(&self, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn start(&self, runner: impl AsRef<OsStr>) -> Start {
        Start::with(&self.catalog)
            .env("TABLECLOTH_WSB_RUNNER", runner.as_ref())
            .env("TMPDIR", self.path("temp"))
            .env("RECORD", self.path("record"))
    }

    fn recorded(&self, name: &str) -> String {
        wait_for_file(&self.path("record/done"));
        fs::read_to_string(self.path("record").join(name)).unwrap()
    }

    /// The files in the temporary folder.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("temp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

const DONE: &str = "touch \"$RECORD/done\"\n";

fn recording() -> String {
    format!("{RECORDING}{DONE}")
}

fn launch(client: &mut Client) -> Value {
    client.call("launch_sandbox", &json!({"serviceIds": ["Tax24"]}))
}

fn assert_file(path: &Path, content: &str) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let id = name
        .strip_prefix("tablecloth-")
        .and_then(|rest| rest.strip_suffix(".wsb"))
        .unwrap_or_else(|| panic!("{name}"));
    assert_eq!(id.len(), 32, "{name}");
    assert!(
        id.bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)),
        "{name}"
    );
    let metadata = fs::symlink_metadata(path).unwrap();
    assert!(metadata.is_file());
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
    assert_eq!(fs::read_to_string(path).unwrap(), content);
}

/// The answer to a launch that failed though there was a runner.
fn assert_failed(answer: &Value, runner: &Path, message: &str) {
    let label = format!("custom ({})", runner.display());
    assert_eq!(
        *answer,
        json!({
            "launched": false,
            "error": filled(
                "tools.launch_sandbox.runnerLaunchFailedError",
                &[("runner", &label), ("message", message)],
            ),
            "hint": text("tools.launch_sandbox.runnerLaunchFailedHint"),
            "runner": label,
            "wsbPath": answer["wsbPath"],
        })
    );
    assert_file(
        Path::new(answer["wsbPath"].as_str().unwrap()),
        &wsb("Tax24"),
    );
}

#[test]
fn a_runner_gets_the_file_and_nothing_of_ours() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", &recording());
    let mut client = bench.start(&runner).session();
    let ids = json!({"serviceIds": ["GanaBank", "x", "Tax24"]});
    let answer = client.call("launch_sandbox", &ids);
    let label = format!("custom ({})", runner.display());
    let path = PathBuf::from(answer["wsbPath"].as_str().unwrap());
    assert_eq!(
        answer,
        json!({
            "launched": true,
            "runner": label,
            "siteIds": ["GanaBank", "Tax24"],
            "unknownIdsIgnored": ["x"],
            "wsbPath": answer["wsbPath"],
            "note": filled("tools.launch_sandbox.noteTemplate", &[("runner", &label)]),
            "compatWarnings": answer["compatWarnings"],
            "securityNote": text("sandbox.securityNote"),
        })
    );
    assert_eq!(answer["compatWarnings"][0]["id"], "GanaBank");
    assert_file(&path, &wsb("GanaBank Tax24"));
    assert_eq!(
        path.parent(),
        Some(&*bench.path("temp").canonicalize().unwrap())
    );

    assert_eq!(bench.recorded("count"), "1");
    assert_eq!(bench.recorded("argument"), path.to_str().unwrap());
    assert_eq!(
        bench.recorded("content"),
        wsb("GanaBank Tax24"),
        "complete at the start"
    );
    assert_eq!(
        Path::new(bench.recorded("folder").trim_end()),
        bench.path("temp").canonicalize().unwrap()
    );
    let environment = bench.recorded("environment");
    assert!(environment.contains("RECORD="), "{environment}");
    if cfg!(target_os = "linux") {
        assert_eq!(bench.recorded("streams"), "/dev/null\n".repeat(3));
        let pid = bench.recorded("pid");
        assert_eq!(
            bench.recorded("session").trim(),
            pid,
            "a session of its own"
        );
        let descriptors = bench.recorded("descriptors");
        for stream in ["0", "1", "2"] {
            let ours = fs::read_link(format!("/proc/{}/fd/{stream}", client.pid())).unwrap();
            let ours = ours.to_str().unwrap();
            assert!(ours.starts_with("pipe:"), "{ours}");
            assert!(!descriptors.contains(ours), "{descriptors}");
        }
    }
    client.assert_alive();
}

#[test]
fn a_runner_is_found_on_the_path() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    bench.script("bin/my-runner", &recording());
    let path = format!("relative:{}:/usr/bin:/bin", bench.path("bin").display());
    let mut client = bench.start("my-runner").env("PATH", path).session();
    let answer = launch(&mut client);
    assert_eq!(answer["runner"], "custom (my-runner)");
    assert_eq!(answer["launched"], true, "{answer}");
    assert_eq!(
        bench.recorded("argument"),
        answer["wsbPath"].as_str().unwrap()
    );
}

#[test]
fn paths_of_every_kind_arrive_whole() {
    if Inapplicable::Script.here() {
        return;
    }
    for name in [
        "with space",
        "quote'd \"twice\"",
        "a & b; $(touch x) `y` | z > w",
        "100%PATH% %1",
        "한글 사용자",
        "😀 emoji",
        "-leading --dash",
        "back\\slash",
        "tab\tand\nline",
    ] {
        let bench = Bench::new();
        let runner = bench.script(&format!("{name}/runner {name}"), &recording());
        let temp = bench.path(&format!("temp {name}"));
        fs::create_dir(&temp).unwrap();
        let mut client = bench
            .start(&runner)
            .env("TMPDIR", &temp)
            .env("LANG", "C")
            .session();
        let answer = launch(&mut client);
        assert_eq!(answer["launched"], true, "{answer}");
        assert_eq!(answer["runner"], format!("custom ({})", runner.display()));
        let path = Path::new(answer["wsbPath"].as_str().unwrap());
        assert_eq!(path.parent(), Some(&*temp.canonicalize().unwrap()));
        assert_file(path, &wsb("Tax24"));
        assert_eq!(bench.recorded("argument"), path.to_str().unwrap());
        assert_eq!(bench.recorded("count"), "1");
    }
}

#[test]
fn the_real_path_is_handed_on() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let link = bench.path("link");
    symlink(bench.path("temp"), &link).unwrap();
    let runner = bench.script("runner", &recording());
    let mut client = bench.start(&runner).env("TMPDIR", &link).session();
    let answer = launch(&mut client);
    let path = Path::new(answer["wsbPath"].as_str().unwrap());
    assert_eq!(
        path.parent(),
        Some(&*bench.path("temp").canonicalize().unwrap())
    );
    assert_eq!(bench.recorded("argument"), path.to_str().unwrap());
}

#[test]
fn a_relative_temporary_folder_is_not_used() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", &recording());
    for temp in ["", "relative", "."] {
        let mut client = bench
            .start(&runner)
            .env("TMPDIR", temp)
            .folder(bench.root.path())
            .session();
        let answer = launch(&mut client);
        let path = Path::new(answer["wsbPath"].as_str().unwrap()).to_owned();
        assert_eq!(
            path.parent(),
            Some(&*Path::new("/tmp").canonicalize().unwrap()),
            "{temp:?}"
        );
        wait_for_file(&bench.path("record/done"));
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn runners_that_cannot_run() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let not_executable = "tools.launch_sandbox.messageNotExecutable";
    let leaves_a_trace = format!("touch '{}'\n", bench.path("trace").display());
    for (runner, key) in [
        (
            bench.path("missing"),
            "tools.launch_sandbox.messageNotFound",
        ),
        (
            PathBuf::from("no-such-runner-on-the-path"),
            "tools.launch_sandbox.messageNotFound",
        ),
        (
            bench.file(
                "plain",
                format!("#!/bin/sh\n{leaves_a_trace}").as_bytes(),
                0o644,
            ),
            not_executable,
        ),
        (bench.path("temp"), not_executable),
        // A shell would run this one.
        (
            bench.file("no-shebang", leaves_a_trace.as_bytes(), 0o755),
            not_executable,
        ),
        (
            bench.file("run.bat", leaves_a_trace.as_bytes(), 0o755),
            not_executable,
        ),
        (bench.file("empty", b"", 0o755), not_executable),
        (
            bench.file("text", b"\x00\x01 no program\n", 0o755),
            not_executable,
        ),
        (
            bench.file("no-interpreter", b"#!/no/such/interpreter\n", 0o755),
            not_executable,
        ),
        // Its arguments are no part of a program's name.
        (
            PathBuf::from(format!(
                "/bin/sh -c 'touch {}'",
                bench.path("trace").display()
            )),
            "tools.launch_sandbox.messageNotFound",
        ),
    ] {
        let mut client = bench.start(&runner).session();
        let answer = launch(&mut client);
        let message = filled(key, &[("program", runner.to_str().unwrap())]);
        assert_failed(&answer, &runner, &message);
        client.assert_alive();
        client.finish();
    }
    assert!(!bench.path("trace").exists(), "no shell ran anything");
}

#[test]
fn a_broken_program_is_an_error() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.file("broken", b"\x7fELF but not really", 0o755);
    let mut client = bench.start(&runner).session();
    let answer = launch(&mut client);
    assert_eq!(answer["launched"], false, "{answer}");
    assert_eq!(answer["runner"], format!("custom ({})", runner.display()));
    client.assert_alive();
}

#[test]
fn runners_that_fail_at_once() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    for (script, message) in [
        (
            "#!/bin/sh\nexit 3\n",
            filled("tools.launch_sandbox.messageExited", &[("code", "3")]),
        ),
        (
            "#!/bin/sh\nkill -9 $$\n",
            filled("tools.launch_sandbox.messageKilled", &[("signal", "9")]),
        ),
    ] {
        let runner = bench.script("runner", script);
        let mut client = bench.start(&runner).session();
        assert_failed(&launch(&mut client), &runner, &message);
        client.assert_alive();
    }
}

#[test]
fn a_runner_that_ends_well_at_once_has_launched() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", "#!/bin/sh\nexit 0\n");
    let mut client = bench.start(&runner).session();
    assert_eq!(launch(&mut client)["launched"], true);
}

#[test]
fn a_runner_cannot_reach_the_session() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script(
        "runner",
        &format!(
            "#!/bin/sh\ncat > \"$RECORD/read\"\n\
             yes '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}' | head -c 5000000\n\
             yes noise | head -c 5000000 >&2\n{DONE}"
        ),
    );
    let mut client = bench.start(&runner).session();
    assert_eq!(launch(&mut client)["launched"], true);
    for _ in 0..20 {
        client.assert_alive();
    }
    assert_eq!(bench.recorded("read"), "");
    client.close_input();
    assert_eq!(client.rest(), [] as [Value; 0]);
    assert!(!client.finish().contains("noise"));
}

#[test]
fn a_runner_lives_on_when_the_server_ends() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script(
        "runner",
        "#!/bin/sh\ntouch \"$RECORD/up\"\nn=0\n\
         while [ ! -e \"$RECORD/stop\" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done\n\
         [ -e \"$RECORD/stop\" ] && touch \"$RECORD/stopped\"\n",
    );
    let mut client = bench.start(&runner).session();
    assert_eq!(launch(&mut client)["launched"], true);
    wait_for_file(&bench.path("record/up"));
    client.close_input();
    client.exit_within(Duration::from_secs(5));
    // Nobody else holds our end of stdout.
    assert_eq!(client.next(), None);
    client.finish();
    fs::write(bench.path("record/stop"), "").unwrap();
    wait_for_file(&bench.path("record/stopped"));
}

#[test]
fn settings_without_a_value_count_as_unset() {
    if Inapplicable::OtherSystem.here() {
        return;
    }
    let bench = Bench::new();
    for runner in [
        "",
        "  ",
        "\t\n",
        "${user_config.runner}",
        " ${user_config.x} ",
    ] {
        let mut client = bench.start(runner).session();
        assert_eq!(launch(&mut client), unsupported(), "{runner:?}");
    }
    // Neither is one of them a place for the catalog.
    for address in ["", " ", "${user_config.catalog}"] {
        let start = Start::new()
            .env("TABLECLOTH_CATALOG_URL", address)
            .env("HTTPS_PROXY", "http://127.0.0.1:9");
        let mut client = start.session();
        let answer = client.call("get_service", &json!({"id": "Hometax"}));
        let notice = answer["catalogNotice"].as_str().unwrap();
        assert!(!notice.contains("TABLECLOTH_CATALOG_URL"), "{notice}");
    }
}

fn unsupported() -> Value {
    json!({
        "launched": false,
        "error": text("tools.launch_sandbox.runnerUnsupportedError"),
        "hint": text("tools.launch_sandbox.runnerUnsupportedHint"),
    })
}

#[test]
fn without_a_runner_no_file_is_written() {
    if Inapplicable::OtherSystem.here() {
        return;
    }
    let bench = Bench::new();
    let start = Start::with(&bench.catalog).env("TMPDIR", bench.path("temp"));
    let mut client = start.session();
    assert_eq!(launch(&mut client), unsupported());
    // Nor is one without a valid id.
    let runner = bench.script("runner", &recording());
    let mut client = bench.start(&runner).session();
    for ids in [json!([]), json!(["x"]), json!(["Spaced Id"])] {
        let answer = client.call("launch_sandbox", &json!({"serviceIds": ids}));
        assert_eq!(answer["launched"], false);
        assert_eq!(answer["unknownIds"], ids);
    }
    assert_eq!(bench.files(), [] as [PathBuf; 0]);
    assert!(!bench.path("record/count").exists());
}

#[test]
fn a_temporary_folder_that_cannot_be_written_is_named() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", &recording());
    let file = bench.file("file", b"", 0o600);
    for temp in [file, bench.path("gone"), bench.path("temp/없는 폴더")] {
        let mut client = bench.start(&runner).env("TMPDIR", &temp).session();
        let answer = launch(&mut client);
        let error = answer["error"].as_str().unwrap();
        let (start, _) = text("tools.launch_sandbox.fileFailedError")
            .split_once('{')
            .unwrap();
        assert!(
            error.starts_with(start) && error.len() > start.len(),
            "{answer}"
        );
        assert_eq!(
            answer,
            json!({
                "launched": false,
                "error": error,
                "hint": filled(
                    "tools.launch_sandbox.fileFailedHint",
                    &[("folder", temp.to_str().unwrap())],
                ),
            })
        );
        client.assert_alive();
    }
    assert!(
        !bench.path("record/count").exists(),
        "the runner was not started"
    );
}

#[test]
fn a_full_disk_is_told() {
    if Inapplicable::SizeLimit.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", &recording());
    // A size limit stands in for a full disk: the file can be made, but not written.
    let limited = bench.script(
        "limited",
        "#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec \"$@\"\n",
    );
    let start = bench.start(&runner);
    let inner = start.command();
    let mut command = std::process::Command::new(limited);
    command
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut client = Client::of(&mut command);
    client.initialize("2025-06-18");
    let answer = launch(&mut client);
    assert_eq!(answer["launched"], false, "{answer}");
    assert!(answer.get("wsbPath").is_none());
    client.assert_alive();
    assert_eq!(bench.files(), [] as [PathBuf; 0], "nothing is left behind");
}

#[test]
fn old_files_of_ours_go_and_no_others() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", &recording());
    let id = "0123456789abcdef0123456789abcdef";
    let days = |days: u64| SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let aged = |name: &str, age: u64| {
        let path = bench.file(&format!("temp/{name}"), b"x", 0o600);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(days(age)).unwrap();
        path
    };
    let old = aged(&format!("tablecloth-{id}.wsb"), 8);
    let kept = [
        aged("tablecloth-00000000000000000000000000000000.wsb", 6),
        aged(&format!("tablecloth-{id}.wsb.bak"), 30),
        aged(&format!("tablecloth-{}.wsb", id.to_uppercase()), 30),
        aged(&format!("tablecloth-{id}0.wsb"), 30),
        aged(&format!("x-tablecloth-{id}.wsb"), 30),
        aged("other.wsb", 30),
        aged(&format!("sub/tablecloth-{id}.wsb"), 30),
    ];
    let target = bench.path("target");
    fs::write(&target, "x").unwrap();
    let link = bench.path("temp/tablecloth-11111111111111111111111111111111.wsb");
    symlink(&target, &link).unwrap();
    let folder = bench.path("temp/tablecloth-22222222222222222222222222222222.wsb");
    fs::create_dir(&folder).unwrap();

    let mut client = bench.start(&runner).session();
    assert_eq!(launch(&mut client)["launched"], true);
    assert!(!old.exists());
    for path in kept.iter().chain([&target, &link, &folder]) {
        assert!(path.exists(), "{}", path.display());
    }
}

#[test]
fn each_launch_has_a_file_of_its_own() {
    if Inapplicable::Script.here() {
        return;
    }
    let bench = Bench::new();
    let runner = bench.script("runner", "#!/bin/sh\nexit 0\n");
    let mut client = bench.start(&runner).session();
    let posted: Vec<Value> = (0..5)
        .map(|_| client.post_call("launch_sandbox", &json!({"serviceIds": ["Tax24"]})))
        .collect();
    let mut paths: Vec<PathBuf> = posted
        .iter()
        .map(|id| {
            let answer = crate::client::answer_in(&client.response(id));
            PathBuf::from(answer["wsbPath"].as_str().unwrap())
        })
        .collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 5);
    for path in &paths {
        assert_file(path, &wsb("Tax24"));
    }
    assert_eq!(bench.files().len(), 5);
}

#[cfg(target_os = "linux")]
#[test]
fn no_zombie_stays() {
    if Inapplicable::Proc.here() {
        return;
    }
    let bench = Bench::new();
    // One that ends at once and one that ends when the answer has been given.
    for (script, launched) in [
        ("#!/bin/sh\nexit 3\n", false),
        ("#!/bin/sh\nsleep 1\n", true),
    ] {
        let runner = bench.script("runner", script);
        let mut client = bench.start(&runner).session();
        assert_eq!(launch(&mut client)["launched"], launched);
        let start = std::time::Instant::now();
        while !children(client.pid()).is_empty() {
            assert!(
                start.elapsed() < crate::client::PATIENCE,
                "{:?}",
                children(client.pid())
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        client.assert_alive();
    }
}

/// The processes started by another that are in the process table, dead or alive.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| {
            let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            after_name.split(' ').nth(1) == Some(&parent.to_string())
        })
        .collect()
}
