//! Chooses the catalog that is compiled in: the file named by
//! `TABLECLOTH_CATALOG_SNAPSHOT`, else `shared/starter-catalog.xml`.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=shared/starter-catalog.xml");
    println!("cargo::rerun-if-env-changed=TABLECLOTH_CATALOG_SNAPSHOT");
    let snapshot = env::var("TABLECLOTH_CATALOG_SNAPSHOT").unwrap_or_default();
    let document = if snapshot.is_empty() {
        "shared/starter-catalog.xml".to_owned()
    } else {
        println!("cargo::rerun-if-changed={snapshot}");
        snapshot
    };
    let catalog = fs::read_to_string(&document).map_err(|error| format!("{document}: {error}"))?;
    // A sign-in page saved in its place would leave the program with an empty catalog.
    if !catalog.contains("<TableClothCatalog") || !catalog.contains("<Service ") {
        return Err(format!("{document} is no catalog with services in it").into());
    }
    let out_dir = env::var("OUT_DIR")?;
    fs::write(Path::new(&out_dir).join("embedded-catalog.xml"), catalog)?;
    Ok(())
}
