//! The texts of `shared/strings.json`: everything a user or a model reads.

use std::sync::LazyLock;

use serde_json::Value;

/// The texts, as compiled in.
pub static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    let file = serde_json::from_str(include_str!("../shared/strings.json"));
    Texts::of(&file.unwrap_or_default())
});

/// What is read from a value of the file. Derived deserializers of these many
/// types would take a twentieth of the whole program.
trait Section {
    /// Panics where the file lacks a text, which a test would see first.
    fn of(value: &Value) -> Self;
}

impl Section for String {
    #[expect(
        clippy::expect_used,
        reason = "the file is compiled in; a test reads it"
    )]
    fn of(value: &Value) -> Self {
        value
            .as_str()
            .expect("shared/strings.json has each text")
            .to_owned()
    }
}

/// The value of a field: its key is the field's name, in camel case or as it is.
fn value_of<'a>(section: &'a Value, field: &str) -> &'a Value {
    let mut words = field.split('_');
    let mut key = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(1);
        key = key + &first.to_ascii_uppercase() + rest;
    }
    section.get(&key).unwrap_or(&section[field])
}

/// Puts values into the `{name}` places of a text, in one pass: braces in a
/// value are not looked at again. A place without a value stays as it is.
#[must_use]
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from_brace) = rest.split_at(open);
        filled.push_str(before);
        let known = values.iter().find_map(|(name, value)| {
            let after = from_brace[1..].strip_prefix(name)?.strip_prefix('}')?;
            Some((value, after))
        });
        if let Some((value, after)) = known {
            filled.push_str(value);
            rest = after;
        } else {
            filled.push('{');
            rest = &from_brace[1..];
        }
    }
    filled.push_str(rest);
    filled
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            #[expect(missing_docs, reason = "the fields are the keys of shared/strings.json, described in shared/README.md")]
            pub struct $name { $(pub $field: $type),* }

            impl Section for $name {
                fn of(value: &Value) -> Self {
                    debug_assert_eq!(
                        value.as_object().map(serde_json::Map::len),
                        Some([$(stringify!($field)),*].len()),
                        "keys of shared/strings.json for {}", stringify!($name)
                    );
                    Self { $($field: Section::of(value_of(value, stringify!($field)))),* }
                }
            }
        )*
    };
}

texts! {
    /// The whole file.
    Texts {
        server: Server,
        tools: Tools,
        sandbox: Sandbox,
        arguments: Arguments,
        answer: Answer,
        suggestions: Suggestions,
        catalog: Catalog,
        cli: CommandLine,
        doctor: Doctor,
    }
    /// What the server says of itself.
    Server { instructions: String }
    /// Texts that concern every sandbox file.
    Sandbox { security_note: String }
    /// Texts about answers as such.
    Answer { cut: String, shortened: String }
    /// Texts for arguments that cannot be understood.
    Arguments {
        missing: String,
        wrong_type: String,
        not_an_object: String,
        unknown_tool: String,
        hint: String,
        wanted: Wanted,
    }
    /// What an argument should look like.
    Wanted { object: String, string: String, integer: String, string_list: String }
    /// Why a service is suggested.
    Suggestions {
        name: String,
        task: String,
        also_task: String,
        alike: String,
        typo: String,
        layout: String,
        initials: String,
        short: String,
        business_site: String,
        hint: String,
        id: String,
    }
    /// Texts about where the catalog came from.
    Catalog { notice_embedded: String, notice_stale: String, age: Age, reason: Reason }
    /// Lengths of time.
    Age { minutes: String, hours: String, days: String }
    /// Why the catalog could not be loaded, and what to do.
    Reason {
        pending: String,
        connect: String,
        proxy: String,
        certificate: String,
        certificate_file: String,
        timeout: String,
        status: String,
        redirect: String,
        interrupted: String,
        too_large: String,
        too_many: String,
        not_catalog: String,
        malformed: String,
        file: String,
        address: String,
        internal: String,
    }
    /// Texts of the command line.
    CommandLine {
        about: String,
        after_help: String,
        commands: Commands,
        args: CommandArguments,
        usage: Usage,
        serve_on_terminal: String,
        did_you_mean: String,
        nothing_found: String,
        matched: String,
        categories_total: String,
        companions_total: String,
        warning_mark: String,
        open_next: String,
        saved: String,
        save_failed: String,
        unknown_ids: String,
        launched: String,
        wsb_path: String,
        headings: Headings,
    }
    /// What each command does.
    Commands {
        serve: String,
        search: String,
        show: String,
        categories: String,
        companions: String,
        wsb: String,
        open: String,
        doctor: String,
        help: String,
    }
    /// What each argument of the command line means.
    CommandArguments {
        words: String,
        category: String,
        limit: String,
        id: String,
        ids: String,
        query: String,
        output: String,
        json: String,
        help: String,
        version: String,
        command: String,
    }
    /// Help pages and what is said of wrong usage.
    Usage {
        usage: String,
        commands: String,
        options: String,
        unknown_command: String,
        unknown_option: String,
        missing: String,
        not_understood: String,
        suggestion: String,
        more: String,
    }
    /// Headings of the human output of `show`.
    Headings {
        packages: String,
        edge_extensions: String,
        search_keywords: String,
        compat_notes: String,
    }
    /// Findings of `doctor`.
    Doctor {
        working: String,
        signs: Signs,
        verdict: Verdict,
        version: String,
        platform: String,
        protocol: String,
        catalog: DoctorCatalog,
        offline: String,
        offline_empty: String,
        runner: DoctorRunner,
        edition: DoctorEdition,
        virtualization: DoctorVirtualization,
        temp: DoctorTemp,
    }
    /// How a finding is marked.
    Signs { ok: String, warning: String, bad: String }
    /// What the findings come to.
    Verdict { ok: String, bad: String }
    /// Findings about the catalog.
    DoctorCatalog { reached: String, reached_by_proxy: String, failed: String, proxy_hint: String }
    /// Findings about the program that opens the sandbox.
    DoctorRunner { ready: String, broken: String, broken_custom_hint: String, missing: String }
    /// Findings about the edition of Windows.
    DoctorEdition {
        ok: String,
        home: String,
        not_offered: String,
        too_old: String,
        unknown: String,
        unknown_hint: String,
    }
    /// Findings about virtualization.
    DoctorVirtualization {
        on: String,
        off: String,
        processor: String,
        nx_off: String,
        nested: String,
        nested_hint: String,
        unknown: String,
        unknown_hint: String,
    }
    /// Findings about the temporary folder.
    DoctorTemp { ok: String, ok_elsewhere: String, bad: String }
}

texts! {
    /// The texts of the six tools; a field is a tool's name.
    Tools {
        search_services: SearchServices,
        get_service: GetService,
        list_categories: ListCategories,
        list_companions: ListCompanions,
        generate_wsb: GenerateWsb,
        launch_sandbox: LaunchSandbox,
    }
    /// Texts of `search_services`.
    SearchServices {
        title: String,
        description: String,
        params: SearchServicesParams,
        result_note: String,
        no_match_note: String,
        no_match_in_category_note: String,
    }
    /// Parameter descriptions of `search_services`.
    SearchServicesParams { query: String, category: String, limit: String }
    /// Texts of `get_service`.
    GetService {
        title: String,
        description: String,
        params: GetServiceParams,
        error_not_found: String,
        hint_not_found: String,
    }
    /// Parameter descriptions of `get_service`.
    GetServiceParams { id: String }
    /// Texts of `list_categories`.
    ListCategories { title: String, description: String }
    /// Texts of `list_companions`.
    ListCompanions { title: String, description: String, params: ListCompanionsParams }
    /// Parameter descriptions of `list_companions`.
    ListCompanionsParams { query: String }
    /// Parameter descriptions of the two tools that take service ids.
    ServiceIdsParams { service_ids: String }
    /// Texts of `generate_wsb`.
    GenerateWsb {
        title: String,
        description: String,
        params: ServiceIdsParams,
        usage: String,
        error_no_valid_ids: String,
        hint_no_valid_ids: String,
    }
    /// Texts of `launch_sandbox`.
    LaunchSandbox {
        title: String,
        description: String,
        params: ServiceIdsParams,
        note_template: String,
        error_no_valid_ids: String,
        hint_no_valid_ids: String,
        runner_mac_not_found_error: String,
        runner_mac_not_found_hint: String,
        runner_unsupported_error: String,
        runner_unsupported_hint: String,
        runner_launch_failed_error: String,
        runner_launch_failed_hint: String,
        runner_windows_missing_error: String,
        runner_windows_missing_hint: String,
        runner_windows_home_hint: String,
        runner_windows_not_offered_hint: String,
        runner_windows_old_hint: String,
        runner_windows_processor_hint: String,
        runner_windows_nx_hint: String,
        runner_windows_virtualization_hint: String,
        runner_windows_feature_hint: String,
        runner_cancelled_hint: String,
        file_failed_error: String,
        file_failed_hint: String,
        message_not_found: String,
        message_not_executable: String,
        message_exited: String,
        message_killed: String,
        message_cancelled: String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_fits_the_types_and_has_no_blank_text() {
        LazyLock::force(&TEXTS);
        let file: serde_json::Value =
            serde_json::from_str(include_str!("../shared/strings.json")).unwrap();
        let mut pending = vec![("", &file)];
        while let Some((key, value)) = pending.pop() {
            match value {
                serde_json::Value::Object(map) => {
                    pending.extend(map.iter().map(|(key, value)| (key.as_str(), value)));
                }
                value => assert!(!value.as_str().unwrap().trim().is_empty(), "{key}"),
            }
        }
    }

    #[test]
    fn what_an_assistant_reads_at_start_stays_under_2000_characters() {
        let tools = &TEXTS.tools;
        for text in [
            &TEXTS.server.instructions,
            &tools.search_services.description,
            &tools.get_service.description,
            &tools.list_categories.description,
            &tools.list_companions.description,
            &tools.generate_wsb.description,
            &tools.launch_sandbox.description,
        ] {
            assert!(text.chars().count() < 2000, "{text}");
        }
    }

    #[test]
    fn fill_replaces_known_places_once() {
        let filled = fill("{a} {b} {c} {", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(filled, "{b} 2 {c} {");
    }
}
