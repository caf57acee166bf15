//! Chooses the catalog that is compiled in: the file named by
//! `TABLECLOTH_CATALOG_SNAPSHOT`, else `shared/starter-catalog.xml`. Gives the
//! Windows program its version, icon and manifest.

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
    if env::var_os("CARGO_CFG_WINDOWS").is_some() {
        describe_windows_program()?;
    }
    Ok(())
}

/// Version and names come from Cargo.toml. Takes the resource compiler of the
/// target's toolchain: `rc`, or `windres` and `ar`.
fn describe_windows_program() -> Result<(), Box<dyn Error>> {
    // mcpb/icon.svg, drawn at eight sizes from 16 to 256 pixels.
    const ICON: &str = "windows/icon.ico";
    const MANIFEST: &str = "windows/program.manifest";
    println!("cargo::rerun-if-changed={ICON}");
    println!("cargo::rerun-if-changed={MANIFEST}");
    let program = env::var("CARGO_PKG_NAME")?;
    winresource::WindowsResource::new()
        .set("OriginalFilename", &format!("{program}.exe"))
        .set_icon(ICON)
        .set_manifest_file(MANIFEST)
        .compile_for(&program)?;
    Ok(())
}
