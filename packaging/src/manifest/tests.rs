use serde_json::json;

use super::*;
use crate::{
    target::Target,
    tool_list::{self, of_server},
};

const SOURCE: &str = include_str!("../../../mcpb/manifest.json");

fn paths() -> BTreeSet<&'static str> {
    let programs = Target::ALL.into_iter().map(Target::path);
    programs.chain(["icon.png", "server/launch.sh"]).collect()
}

/// What is said against the manifest after a change to it.
fn fault(change: impl FnOnce(&mut Value)) -> String {
    let mut manifest = stamped(SOURCE).unwrap();
    change(&mut manifest);
    check(&manifest, &of_server(), &paths())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_manifest_is_good_and_in_its_written_form() {
    let manifest = stamped(SOURCE).unwrap();
    check(&manifest, &of_server(), &paths()).unwrap();
    let source: Value = serde_json::from_str(SOURCE).unwrap();
    assert_eq!(text(&source).unwrap(), SOURCE);
    // Written into it by the command, never by hand.
    let tools = tool_list::for_manifest(&of_server());
    assert!(source["tools"] == tools, "run: packaging tools");
}

#[test]
fn version_licence_and_addresses_are_filled_in() {
    let manifest = stamped(SOURCE).unwrap();
    assert_eq!(manifest["version"], project::VERSION);
    assert_eq!(manifest["license"], project::LICENSE);
    assert_eq!(manifest["repository"]["url"], project::REPOSITORY);
    assert_eq!(manifest["author"]["url"], project::owner_url());
    let policy = format!("{}/blob/main/PRIVACY.md", project::REPOSITORY);
    assert_eq!(manifest["privacy_policies"], json!([policy]));
    let command = &manifest["server"]["mcp_config"]["env"]["TABLECLOTH_WSB_RUNNER"];
    assert_eq!(command, "${user_config.runner}");
}

#[test]
fn the_official_schema_is_kept() {
    let unknown = fault(|manifest| manifest["homepages"] = json!("x"));
    assert!(unknown.contains("'homepages' was unexpected"), "{unknown}");
    let address = fault(|manifest| manifest["support"] = json!("no address"));
    assert!(address.contains("/support"), "{address}");
    let missing = fault(|manifest| {
        manifest.as_object_mut().unwrap().remove("author");
    });
    assert!(
        missing.contains("\"author\" is a required property"),
        "{missing}"
    );
}

#[test]
fn format_version_and_name_are_what_they_must_be() {
    let version = fault(|manifest| {
        manifest.as_object_mut().unwrap().remove("manifest_version");
    });
    assert_eq!(version, "manifest_version is null, and \"0.3\" is needed");
    let name = fault(|manifest| manifest["name"] = json!("tablecloth"));
    assert_eq!(
        name,
        "its name is \"tablecloth\", and \"tablecloth-mcp\" is needed"
    );
}

#[test]
fn the_tools_are_the_servers() {
    let fewer = fault(|manifest| {
        manifest["tools"].as_array_mut().unwrap().pop();
    });
    assert!(
        fewer.starts_with("its tools are [\"search_services\""),
        "{fewer}"
    );
    let moved = fault(|manifest| manifest["tools"].as_array_mut().unwrap().swap(0, 1));
    assert!(
        moved.starts_with("its tools are [\"get_service\""),
        "{moved}"
    );
    let other_text = fault(|manifest| manifest["tools"][4]["description"] = json!("other"));
    assert!(other_text.contains("the tool generate_wsb"), "{other_text}");
    let no_text = fault(|manifest| {
        manifest["tools"][0]
            .as_object_mut()
            .unwrap()
            .remove("description");
    });
    assert!(no_text.contains("the tool search_services"), "{no_text}");
}

#[test]
fn every_path_is_in_the_archive() {
    let no_such_file = "server/launch.bat, and the bundle has no such file";
    let entry_point =
        fault(|manifest| manifest["server"]["entry_point"] = json!("server/launch.bat"));
    assert_eq!(
        entry_point,
        format!("server.entry_point names {no_such_file}")
    );
    let icon = fault(|manifest| manifest["icon"] = json!("server/launch.bat"));
    assert_eq!(icon, format!("icon names {no_such_file}"));
    let command = fault(|manifest| {
        manifest["server"]["mcp_config"]["command"] = json!("${__dirname}/server/launch.bat");
    });
    assert_eq!(
        command,
        format!("server.mcp_config.command names {no_such_file}")
    );
    let argument = fault(|manifest| {
        manifest["server"]["mcp_config"]["platform_overrides"]["linux"]["args"] =
            json!(["${__dirname}/server/launch.bat"]);
    });
    let place = "server.mcp_config.platform_overrides.linux";
    assert_eq!(argument, format!("{place}.args names {no_such_file}"));
}

#[test]
fn nothing_but_the_bundle_and_the_shell_is_started() {
    for (command, args) in [
        ("node", json!(["${__dirname}/server/launch.sh"])),
        ("/bin/sh", json!(["-c", "true"])),
        ("server/launch.sh", json!([])),
    ] {
        let fault = fault(|manifest| {
            let start = &mut manifest["server"]["mcp_config"]["platform_overrides"]["darwin"];
            start["command"] = json!(command);
            start["args"] = args;
        });
        let place = "server.mcp_config.platform_overrides.darwin.command";
        assert!(
            fault.starts_with(&format!("{place} is '{command}'")),
            "{fault}"
        );
    }
}

#[test]
fn overrides_are_complete_and_those_of_the_supported_systems() {
    for key in ["command", "args", "env"] {
        let fault = fault(|manifest| {
            let start = &mut manifest["server"]["mcp_config"]["platform_overrides"]["win32"];
            start.as_object_mut().unwrap().remove(key);
        });
        assert!(
            fault.starts_with(&format!("the override for win32 lacks {key}")),
            "{fault}"
        );
    }
    let platforms = fault(|manifest| manifest["compatibility"]["platforms"] = json!(["win32"]));
    assert!(
        platforms.starts_with("there are overrides for [\"darwin\", \"linux\", \"win32\"]"),
        "{platforms}"
    );
}

#[test]
fn settings_that_are_used_are_asked_for() {
    let fault = fault(|manifest| {
        let settings = manifest["user_config"].as_object_mut().unwrap();
        let runner = settings.remove("runner").unwrap();
        settings.insert("program".to_owned(), runner);
    });
    assert_eq!(
        fault,
        "server.mcp_config uses the setting 'runner', and user_config has no such setting"
    );
}

#[test]
fn what_is_no_json_is_refused() {
    assert!(matches!(stamped("{"), Err(ManifestError::Json(_))));
}
