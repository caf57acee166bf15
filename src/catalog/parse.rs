//! Reads a catalog document.
//!
//! Missing attributes and odd entries cost only themselves. A document that is
//! not well-formed XML is refused whole: what follows the fault could be
//! anything, and the last good catalog serves better than half of a new one.

use std::borrow::Cow;

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesRef, BytesStart, Event},
};
use thiserror::Error;

use super::{Catalog, Companion, EdgeExtension, Package, Service, clean, trim};

/// Why a document is no catalog.
#[derive(Debug, Error)]
pub enum ParseError {
    /// The bytes are not UTF-8 text.
    #[error("document is not utf-8")]
    NotUtf8(#[from] std::str::Utf8Error),
    /// The XML is not well-formed.
    #[error("document is not well-formed xml near byte {position}")]
    Malformed {
        /// Where reading stopped.
        position: u64,
        /// What is wrong there, as far as known.
        source: Option<quick_xml::Error>,
    },
    /// It is another kind of document, such as a sign-in page.
    #[error("root element is {0:?}, not TableClothCatalog")]
    OtherRoot(String),
    /// There is nothing in it.
    #[error("document lists no service")]
    NoServices,
}

/// Deepest nesting of a document that is read; a catalog needs five levels.
const DEEPEST: usize = 64;

/// Reads a catalog document.
///
/// # Errors
///
/// [`ParseError`] where the document is not UTF-8 (with or without a byte order
/// mark), not well-formed, has another root element or no service.
pub fn parse(document: &[u8]) -> Result<Catalog, ParseError> {
    let document = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document);
    let mut reader = Reader::from_str(std::str::from_utf8(document)?);
    reader.config_mut().check_comments = true;
    let mut builder = Builder::default();
    loop {
        let outcome = match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => builder.take(event),
            Err(error) => Err(Fault::Xml(error)),
        };
        match outcome {
            Ok(()) => {}
            Err(Fault::OtherRoot(name)) => return Err(ParseError::OtherRoot(name)),
            Err(Fault::IllFormed) => return Err(malformed(&reader, None)),
            Err(Fault::Xml(error)) => return Err(malformed(&reader, Some(error))),
        }
    }
    if !builder.open.is_empty() {
        return Err(malformed(&reader, None));
    }
    if !builder.root_seen {
        return Err(ParseError::OtherRoot(String::new()));
    }
    if builder.services.is_empty() {
        return Err(ParseError::NoServices);
    }
    Ok(Catalog::new(builder.services, builder.companions))
}

fn malformed(reader: &Reader<&[u8]>, source: Option<quick_xml::Error>) -> ParseError {
    ParseError::Malformed {
        position: reader.buffer_position(),
        source,
    }
}

enum Fault {
    OtherRoot(String),
    IllFormed,
    Xml(quick_xml::Error),
}

impl<E: Into<quick_xml::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Xml(error.into())
    }
}

/// Where in the document the reader is, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Root,
    Companions,
    InternetServices,
    Service,
    Packages,
    EdgeExtensions,
    SearchKeywords,
    CompatNotes,
    /// Anything else, with all that is in it.
    Ignored,
}

#[derive(Default)]
struct Builder {
    open: Vec<Element>,
    root_seen: bool,
    service: Service,
    services: Vec<Service>,
    companions: Vec<Companion>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), Fault> {
        match event {
            Event::Start(tag) => {
                let element = self.enter(&tag)?;
                if self.open.len() == DEEPEST {
                    return Err(Fault::IllFormed);
                }
                self.open.push(element);
            }
            Event::Empty(tag) => {
                let element = self.enter(&tag)?;
                self.leave(element);
            }
            Event::End(_) => {
                if let Some(element) = self.open.pop() {
                    self.leave(element);
                }
            }
            Event::Text(text) => self.text(&text.xml10_content())?,
            Event::CData(text) => self.text(&text.xml10_content())?,
            Event::GeneralRef(reference) => self.text(&resolve(&reference)?)?,
            Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_) | Event::Eof => {}
        }
        Ok(())
    }

    /// Takes in the start of an element and says what it is.
    fn enter(&mut self, tag: &BytesStart<'_>) -> Result<Element, Fault> {
        let attributes = Attributes::read(tag)?;
        let name = tag.name().into_inner();
        let Some(&parent) = self.open.last() else {
            // Text or a second element beside the root is ill-formed, not ours to repair.
            if self.root_seen {
                return Err(Fault::IllFormed);
            }
            if name != "TableClothCatalog" {
                return Err(Fault::OtherRoot(name.chars().take(40).collect()));
            }
            self.root_seen = true;
            return Ok(Element::Root);
        };
        Ok(match (parent, name) {
            (Element::Root, "Companions") => Element::Companions,
            (Element::Root, "InternetServices") => Element::InternetServices,
            (Element::Companions, "Companion") => {
                self.add_companion(&attributes);
                Element::Ignored
            }
            (Element::InternetServices, "Service") => {
                self.service = service(&attributes);
                Element::Service
            }
            (Element::Service, "Packages") => Element::Packages,
            (Element::Service, "EdgeExtensions") => Element::EdgeExtensions,
            (Element::Service, "SearchKeywords") => {
                self.service.search_keywords.get_or_insert_default();
                Element::SearchKeywords
            }
            (Element::Service, "CompatNotes") => {
                self.service.compat_notes.get_or_insert_default();
                Element::CompatNotes
            }
            (Element::Packages, "Package") => {
                self.service.packages.push(Package {
                    name: attributes.get("Name"),
                    url: clean::url(attributes.get("Url")),
                    arguments: attributes.get("Arguments"),
                });
                Element::Ignored
            }
            (Element::EdgeExtensions, "EdgeExtension") => {
                self.service.edge_extensions.push(EdgeExtension {
                    name: attributes.get("Name"),
                    extension_id: attributes.get("ExtensionId"),
                    crx_url: clean::url(attributes.get("CrxUrl")),
                });
                Element::Ignored
            }
            _ => Element::Ignored,
        })
    }

    fn leave(&mut self, element: Element) {
        if element != Element::Service {
            return;
        }
        let mut service = std::mem::take(&mut self.service);
        if service.id.is_empty() {
            return;
        }
        service.search_keywords = service
            .search_keywords
            .map(|keywords| trim(&clean::text(&keywords)).to_owned());
        service.compat_notes = service
            .compat_notes
            .map(|notes| trim(&clean::text(&notes)).to_owned());
        self.services.push(service);
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        let field = match self.open.last() {
            Some(Element::SearchKeywords) => &mut self.service.search_keywords,
            Some(Element::CompatNotes) => &mut self.service.compat_notes,
            Some(_) => return Ok(()),
            None if trim(text).is_empty() => return Ok(()),
            None if self.root_seen => return Err(Fault::IllFormed),
            None => return Err(Fault::OtherRoot(String::new())),
        };
        field.get_or_insert_default().push_str(text);
        Ok(())
    }

    fn add_companion(&mut self, attributes: &Attributes<'_>) {
        let display_name = attributes.get("DisplayName");
        if display_name.is_empty() {
            return;
        }
        self.companions.push(Companion {
            id: attributes.get("Id"),
            display_name,
            display_name_en: attributes.present("en-US-DisplayName"),
            url: clean::url(attributes.get("Url")),
            search_text: String::new(),
        });
    }
}

fn service(attributes: &Attributes<'_>) -> Service {
    Service {
        id: attributes.get("Id"),
        display_name: attributes.get("DisplayName"),
        display_name_en: attributes.present("en-US-DisplayName"),
        category: attributes
            .present("Category")
            .unwrap_or_else(|| "Other".to_owned()),
        url: clean::url(attributes.get("Url")),
        ..Service::default()
    }
}

/// What a reference in a text stands for. Entities that a document type
/// declares are not expanded: a catalog has none, an attack has billions.
fn resolve<'a>(reference: &'a BytesRef<'_>) -> Result<Cow<'a, str>, Fault> {
    if let Some(character) = reference.resolve_char_ref()? {
        return Ok(Cow::Owned(character.to_string()));
    }
    quick_xml::escape::resolve_predefined_entity(reference)
        .map(Cow::Borrowed)
        .ok_or(Fault::IllFormed)
}

/// The attributes of one element, cleaned and trimmed as the peers do it.
struct Attributes<'a>(Vec<(&'a str, String)>);

impl<'a> Attributes<'a> {
    fn read(tag: &'a BytesStart<'_>) -> Result<Self, Fault> {
        let mut read = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute?;
            // Not allowed by XML, but not looked for by the reader: it is how an unclosed quote shows.
            if attribute.value.contains('<') {
                return Err(Fault::IllFormed);
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            let value = trim(&clean::text(&value)).to_owned();
            read.push((attribute.key.into_inner(), value));
        }
        Ok(Self(read))
    }

    fn present(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(key, _)| *key == name)?;
        Some(value.clone())
    }

    fn get(&self, name: &str) -> String {
        self.present(name).unwrap_or_default()
    }
}
