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

use super::{Catalog, Companion, EdgeExtension, Package, Service, clean, trim, trimmed_range};

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
    /// It would take more memory or time than a catalog ever needs.
    #[error("document has too many entries")]
    TooMany,
}

/// Deepest nesting of a document that is read; a catalog needs five levels.
const DEEPEST: usize = 64;
/// Most elements, of any kind, many times what the largest readable document needs in earnest.
const MOST_ELEMENTS: usize = 300_000;
/// Most services and companions together. One takes some hundred bytes of
/// memory however little it takes in the document.
const MOST_ENTRIES: usize = 50_000;
/// Most packages, and most extensions, of one service; an answer shows all of them.
const MOST_PROGRAMS: usize = 1_000;
/// Most attributes of one element; a catalog has six at most.
const MOST_ATTRIBUTES: usize = 64;
/// A catalog's root element begins well within so many bytes.
const PROLOGUE: usize = 16 * 1024;
const ROOT: &str = "TableClothCatalog";

/// Reads a catalog document.
///
/// # Errors
///
/// [`ParseError`] where the document is not UTF-8 (with or without a byte order
/// mark), not well-formed, has another root element, no service or too much in it.
pub fn parse(document: &[u8]) -> Result<Catalog, ParseError> {
    read(document).map_err(|error| match error {
        // Sign-in pages are seldom well-formed, and old ones not UTF-8, but the advice must fit them.
        ParseError::NotUtf8(_) | ParseError::Malformed { .. } if !names_root(document) => {
            ParseError::OtherRoot(String::new())
        }
        other => other,
    })
}

/// Whether a document that cannot be read was at least meant as a catalog.
fn names_root(document: &[u8]) -> bool {
    let utf_16 = document.starts_with(b"\xff\xfe") || document.starts_with(b"\xfe\xff");
    let prologue = &document[..document.len().min(PROLOGUE)];
    utf_16
        || prologue
            .windows(ROOT.len() + 1)
            .any(|window| window[0] == b'<' && &window[1..] == ROOT.as_bytes())
}

fn read(document: &[u8]) -> Result<Catalog, ParseError> {
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
            Err(Fault::TooMany) => return Err(ParseError::TooMany),
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
    TooMany,
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
    elements: usize,
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
        let name = tag.name().into_inner();
        if self.open.is_empty() && !self.root_seen && name != ROOT {
            return Err(Fault::OtherRoot(name.chars().take(40).collect()));
        }
        self.elements += 1;
        if self.elements > MOST_ELEMENTS
            || self.services.len() + self.companions.len() > MOST_ENTRIES
        {
            return Err(Fault::TooMany);
        }
        if !is_name(name) {
            return Err(Fault::IllFormed);
        }
        let mut attributes = Attributes::read(tag)?;
        let Some(&parent) = self.open.last() else {
            // Text or a second element beside the root is ill-formed, not ours to repair.
            if self.root_seen {
                return Err(Fault::IllFormed);
            }
            self.root_seen = true;
            return Ok(Element::Root);
        };
        Ok(match (parent, name) {
            (Element::Root, "Companions") => Element::Companions,
            (Element::Root, "InternetServices") => Element::InternetServices,
            (Element::Companions, "Companion") => {
                self.add_companion(&mut attributes);
                Element::Ignored
            }
            (Element::InternetServices, "Service") => {
                self.service = service(&mut attributes);
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
                if self.service.packages.len() == MOST_PROGRAMS {
                    return Err(Fault::TooMany);
                }
                self.service.packages.push(Package {
                    name: attributes.take("Name"),
                    url: clean::url(attributes.take("Url")),
                    arguments: attributes.take("Arguments"),
                });
                Element::Ignored
            }
            (Element::EdgeExtensions, "EdgeExtension") => {
                if self.service.edge_extensions.len() == MOST_PROGRAMS {
                    return Err(Fault::TooMany);
                }
                self.service.edge_extensions.push(EdgeExtension {
                    name: attributes.take("Name"),
                    extension_id: attributes.take("ExtensionId"),
                    crx_url: clean::url(attributes.take("CrxUrl")),
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
            .map(|keywords| trimmed(clean::text(keywords)));
        service.compat_notes = service
            .compat_notes
            .map(|notes| trimmed(clean::text(notes)));
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

    fn add_companion(&mut self, attributes: &mut Attributes<'_>) {
        let display_name = attributes.take("DisplayName");
        if display_name.is_empty() {
            return;
        }
        self.companions.push(Companion {
            id: attributes.take("Id"),
            display_name,
            display_name_en: attributes.take_present("en-US-DisplayName"),
            url: clean::url(attributes.take("Url")),
            search_text: String::new(),
        });
    }
}

fn service(attributes: &mut Attributes<'_>) -> Service {
    Service {
        id: attributes.take("Id"),
        display_name: attributes.take("DisplayName"),
        display_name_en: attributes.take_present("en-US-DisplayName"),
        category: attributes
            .take_present("Category")
            .unwrap_or_else(|| "Other".to_owned()),
        url: clean::url(attributes.take("Url")),
        ..Service::default()
    }
}

/// [`trim`] in place: the text may be large.
fn trimmed(mut text: String) -> String {
    let kept = trimmed_range(&text);
    text.truncate(kept.end);
    text.drain(..kept.start);
    text
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

/// Whether this can be a name in XML, as far as quotes and brackets gone astray show in it.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|character| character.is_alphanumeric() || "-_.:\u{b7}".contains(character))
}

/// The attributes of one element, cleaned and trimmed as other implementations of the specification do it.
struct Attributes<'a>(Vec<(&'a str, String)>);

impl<'a> Attributes<'a> {
    fn read(tag: &'a BytesStart<'_>) -> Result<Self, Fault> {
        let mut read = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute?;
            if read.len() == MOST_ATTRIBUTES {
                return Err(Fault::TooMany);
            }
            // Not allowed by XML, but not looked for by the reader: it is how an unclosed quote shows.
            if attribute.value.contains('<') || !is_name(attribute.key.into_inner()) {
                return Err(Fault::IllFormed);
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            read.push((attribute.key.into_inner(), trimmed(clean::text(value))));
        }
        Ok(Self(read))
    }

    fn take_present(&mut self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter_mut().find(|(key, _)| *key == name)?;
        Some(std::mem::take(value))
    }

    fn take(&mut self, name: &str) -> String {
        self.take_present(name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
