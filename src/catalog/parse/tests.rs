//! The parser against what has been, or could be, published as the catalog.

mod generated;
mod hostile;
mod odd;

use super::*;

/// A document with these services in it.
fn catalog(services: &str) -> String {
    format!(
        "<TableClothCatalog><InternetServices>{services}</InternetServices></TableClothCatalog>"
    )
}

fn read(services: &str) -> Result<Catalog, ParseError> {
    parse(catalog(services).as_bytes())
}

fn ids(catalog: &Catalog) -> Vec<&str> {
    let services = catalog.services().iter();
    services.map(|service| service.id.as_str()).collect()
}

/// The only service of a document with these attributes and content.
fn only(services: &str) -> Service {
    let catalog = read(services).unwrap_or_else(|error| panic!("{services}: {error}"));
    assert_eq!(catalog.services().len(), 1, "{services}");
    catalog.services()[0].clone()
}
