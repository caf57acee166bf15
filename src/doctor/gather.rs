//! Gathers the facts from the machine this runs on.

use std::time::Instant;

use super::{CatalogFact, CatalogFault, Facts};
use crate::{
    catalog::{
        CatalogSource,
        fetch::{proxy, root},
        notice,
        source::embedded,
    },
    sandbox::{Start, Surroundings, System, file, program},
    server,
};

impl Facts {
    /// Looks at this machine: fetches the catalog, and writes and removes a file
    /// in the temporary folder. Takes as long as the network does, at most some 35 seconds.
    pub async fn gather(source: &CatalogSource) -> Self {
        let surroundings = Surroundings::current();
        let runner = surroundings.runner();
        let runner_fault = match &runner {
            // The shell's program is the system's own, and was seen to be there.
            Ok(runner) if runner.start == Start::Directly => program::check(&runner.program).err(),
            _ => None,
        };
        let temp = file::folder();
        Self {
            system: surroundings.system,
            system_name: match surroundings.system {
                System::Windows => surroundings.windows.name(),
                System::Mac => "macOS".to_owned(),
                System::Other => std::env::consts::OS.to_owned(),
            },
            processor: processor(surroundings.windows.processor.as_deref()),
            revisions: server::revisions(),
            catalog: fetch(source).await,
            embedded: embedded().services().len(),
            runner,
            runner_fault,
            runner_is_custom: surroundings.custom.is_some(),
            windows: surroundings.windows,
            temp_written: file::try_write(&temp).map_err(|error| error.to_string()),
            temp,
        }
    }
}

/// What the program was built for and, on Windows, the machine's own processor
/// where that is another.
fn processor(machine: Option<&str>) -> String {
    let built_for = std::env::consts::ARCH;
    match machine {
        Some("AMD64") if built_for == "x86_64" => built_for.to_owned(),
        Some("ARM64") if built_for == "aarch64" => built_for.to_owned(),
        Some(machine) => format!("{built_for}, {machine}"),
        None => built_for.to_owned(),
    }
}

async fn fetch(source: &CatalogSource) -> CatalogFact {
    let location = source.location();
    let start = Instant::now();
    let outcome = source.try_load().await;
    CatalogFact {
        address: location.shown(),
        took: start.elapsed(),
        proxy: proxy(location),
        outcome: match outcome {
            Ok(catalog) => Ok(catalog.services().len()),
            Err(error) => Err(CatalogFault {
                cause: root(&error),
                reason: notice::reason(Some(&error), location),
            }),
        },
    }
}
