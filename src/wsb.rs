//! The Windows Sandbox configuration file.

/// The file with its one substitution point.
const TEMPLATE: &str = include_str!("../shared/wsb-template.xml");
const POINT: &str = "__SITEIDS__";

/// The file that opens these sites. The ids must have passed
/// [`SiteIds::select`](crate::site_ids::SiteIds::select).
#[must_use]
pub fn wsb(site_ids: &[&str]) -> String {
    let setting = if site_ids.is_empty() {
        String::new()
    } else {
        // The point lies inside a single-quoted PowerShell string, hence the doubled quotes.
        format!(" $env:TABLECLOTH_SITE_IDS = ''{}'';", site_ids.join(" "))
    };
    TEMPLATE.replacen(POINT, &setting, 1)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use quick_xml::{Reader, events::Event};

    use super::*;

    /// The elements in document order with their text, once the XML is read.
    fn elements(document: &str) -> Vec<(String, String)> {
        let mut reader = Reader::from_str(document);
        let mut open: Vec<(String, String)> = Vec::new();
        let mut closed = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(tag) => open.push((tag.name().into_inner().to_owned(), String::new())),
                Event::Empty(tag) => panic!("empty element {:?}", tag.name()),
                Event::Text(text) => {
                    if let Some((_, content)) = open.last_mut() {
                        content.push_str(&text.xml10_content());
                    }
                }
                Event::GeneralRef(reference) => {
                    let text = quick_xml::escape::resolve_predefined_entity(&reference).unwrap();
                    open.last_mut().unwrap().1.push_str(text);
                }
                Event::End(_) => closed.push(open.pop().unwrap()),
                Event::Eof => return closed,
                _ => {}
            }
        }
    }

    fn element(document: &str, name: &str) -> String {
        let elements = elements(document);
        let mut found = elements.iter().filter(|(element, _)| element == name);
        let text = found.next().expect("the element is there").1.clone();
        assert!(found.next().is_none(), "{name} is there once");
        text
    }

    /// What the visible PowerShell is told to do: the argument list of the hidden one.
    fn guest_script(document: &str) -> String {
        let command = element(document, "Command");
        let list = command
            .split_once("-ArgumentList '")
            .and_then(|(_, rest)| rest.strip_suffix("'\""))
            .expect("the command starts a second powershell");
        list.replace("''", "'")
    }

    #[test]
    fn the_point_is_there_once() {
        assert_eq!(TEMPLATE.matches(POINT).count(), 1);
        assert!(!wsb(&["A"]).contains(POINT));
    }

    #[test]
    fn ids_are_set_as_the_specification_writes_it() {
        assert!(
            wsb(&["Hometax", "Q-net"])
                .contains("Tls12; $env:TABLECLOTH_SITE_IDS = ''Hometax Q-net''; $script =")
        );
        assert!(wsb(&[]).contains("Tls12; $script ="));
    }

    #[test]
    fn the_host_is_shielded() {
        let document = wsb(&["Hometax"]);
        assert_eq!(element(&document, "VGpu"), "Disable");
        assert_eq!(element(&document, "Networking"), "Enable");
        let names: Vec<_> = elements(&document)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            names,
            [
                "VGpu",
                "Networking",
                "Command",
                "LogonCommand",
                "Configuration"
            ]
        );
    }

    #[test]
    fn it_is_plain_ascii_without_empty_elements() {
        let document = wsb(&["Hometax"]);
        assert!(document.is_ascii());
        assert!(!document.contains("/>") && !document.contains("></"));
        assert!(!document.to_lowercase().contains("encodedcommand"));
        assert!(!document.to_lowercase().contains("hidden"));
    }

    #[test]
    fn quoting_holds_on_both_levels() {
        let command = element(&wsb(&["Hometax"]), "Command");
        // One double-quoted argument, and in it one single-quoted string.
        assert_eq!(command.matches('"').count(), 2);
        assert!(command.ends_with("'\""));
        let script = guest_script(&wsb(&["Hometax"]));
        assert_eq!(script.matches('\'').count() % 2, 0, "{script}");
        assert_eq!(script.matches('{').count(), script.matches('}').count());
        assert!(!script.contains('"'));
    }

    #[test]
    fn the_guest_does_its_steps_in_order() {
        let script = guest_script(&wsb(&["Hometax"]));
        let steps = [
            "GetHostAddresses('github.com')",
            "Set-DnsClientServerAddress",
            "SecurityProtocolType]::Tls12",
            "$env:TABLECLOTH_SITE_IDS = 'Hometax'",
            "Invoke-WebRequest -UseBasicParsing -Uri 'https://github.com/yourtablecloth/TableCloth/releases/latest/download/tablecloth-prepare.ps1'",
            "& $script",
            "Read-Host",
        ];
        let mut rest = script.as_str();
        for step in steps {
            rest = rest.split_once(step).unwrap_or_else(|| panic!("{step}")).1;
        }
    }

    #[test]
    fn the_command_fits_a_command_line() {
        let every: Vec<String> = (0..272).map(|n| format!("ServiceNumber{n}")).collect();
        let ids: Vec<&str> = every.iter().map(String::as_str).collect();
        // CreateProcess takes 32,767 characters.
        assert!(element(&wsb(&ids), "Command").len() < 16_000);
    }

    proptest! {
        #[test]
        fn any_accepted_ids_come_out_exactly(ids in vec("[A-Za-z0-9._-]{1,40}", 1..20)) {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let document = wsb(&ids);
            prop_assert!(document.is_ascii());
            prop_assert_eq!(elements(&document).len(), elements(&wsb(&[])).len());
            let script = guest_script(&document);
            let (before, rest) = script.split_once("$env:TABLECLOTH_SITE_IDS = '").unwrap();
            let (set, after) = rest.split_once("'; ").unwrap();
            prop_assert_eq!(set.split(' ').collect::<Vec<_>>(), ids);
            // Nothing else of the script depends on them.
            prop_assert_eq!(before.to_owned() + after, guest_script(&wsb(&[])));
        }
    }
}
