//! Oddities that the catalog has had or that XML allows.

use super::*;

const WHOLE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<?xml-stylesheet type="text/xsl" href="Catalog.xslt"?>
<!-- the catalog -->
<TableClothCatalog>
  <Companions>
    <Companion Id=" SevenZip " DisplayName="압축" en-US-DisplayName="7-Zip" Url="https://7-zip.org/" />
    <Companion Id="Nameless" Url="https://example.com/" />
  </Companions>
  <InternetServices>
    <Service Id="WooriBank" DisplayName="우리은행" en-US-DisplayName="Woori" Category="Banking" Url="https://wooribank.com/">
      <Packages>
        <Package Name="Astx" Url="https://safetx.ahnlab.com/a.exe" Arguments="/silence" />
        <Package Name="Bare" />
      </Packages>
      <EdgeExtensions>
        <EdgeExtension Name="Ext" ExtensionId="abc" CrxUrl="https://edge.example/crx" />
      </EdgeExtensions>
      <SearchKeywords>
        우리; 은행
      </SearchKeywords>
      <CompatNotes>세션이 끊길 수 있습니다.</CompatNotes>
      <en-US-CompatNotes>May disconnect.</en-US-CompatNotes>
      <CustomBootstrap>Remove-Item C:\ -Recurse</CustomBootstrap>
    </Service>
    <Service Id="iMBank" DisplayName="아이엠뱅크" Category="" />
  </InternetServices>
</TableClothCatalog>
"#;

#[test]
fn a_whole_document_is_read_field_by_field() {
    let catalog = parse(WHOLE.as_bytes()).unwrap();
    assert_eq!(ids(&catalog), ["WooriBank", "iMBank"]);
    let woori = catalog.service("WooriBank").unwrap();
    assert_eq!(woori.display_name, "우리은행");
    assert_eq!(woori.display_name_en.as_deref(), Some("Woori"));
    assert_eq!(woori.category, "Banking");
    assert_eq!(woori.url, "https://wooribank.com/");
    assert_eq!(woori.packages[0].arguments, "/silence");
    assert_eq!(
        woori.packages[1],
        Package {
            name: "Bare".to_owned(),
            ..Package::default()
        }
    );
    assert_eq!(woori.edge_extensions[0].extension_id, "abc");
    assert_eq!(woori.search_keywords.as_deref(), Some("우리; 은행"));
    assert_eq!(woori.compat_warning(), Some("세션이 끊길 수 있습니다."));
    let im = catalog.service("iMBank").unwrap();
    assert_eq!(im.category, "");
    assert_eq!(im.display_name_en, None);
    assert_eq!(im.search_keywords, None);
    assert_eq!(im.compat_warning(), None);
    assert_eq!(catalog.companions().len(), 1);
    assert_eq!(catalog.companions()[0].id, "SevenZip");
}

#[test]
fn a_bootstrap_script_never_surfaces() {
    let inside = [
        "<CustomBootstrap>Remove-Item</CustomBootstrap>",
        "<CustomBootstrap><![CDATA[Remove-Item]]></CustomBootstrap>",
        "<CustomBootstrap><SearchKeywords>Remove-Item</SearchKeywords></CustomBootstrap>",
        "<SearchKeywords><CustomBootstrap>Remove-Item</CustomBootstrap></SearchKeywords>",
        "<CompatNotes><CustomBootstrap>Remove-Item</CustomBootstrap></CompatNotes>",
        "<Packages><CustomBootstrap Name='Remove-Item'>Remove-Item</CustomBootstrap></Packages>",
        "<CustomBootstrap><Packages><Package Name='Remove-Item'/></Packages></CustomBootstrap>",
    ];
    for inside in inside {
        let service = only(&format!("<Service Id='A'>{inside}</Service>"));
        assert!(!format!("{service:?}").contains("Remove-Item"), "{inside}");
    }
    let service = parse(WHOLE.as_bytes()).unwrap();
    assert!(!format!("{service:?}").contains("Remove-Item"));
}

#[test]
fn byte_order_mark_and_line_ends_do_not_matter() {
    let plain = parse(WHOLE.as_bytes()).unwrap();
    for line_end in ["\n", "\r\n", "\r"] {
        for mark in ["", "\u{feff}"] {
            let document = format!("{mark}{}", WHOLE.replace('\n', line_end));
            let odd = parse(document.as_bytes()).unwrap();
            assert_eq!(odd.services(), plain.services());
            assert_eq!(odd.companions(), plain.companions());
        }
    }
}

#[test]
fn the_first_of_repeated_ids_is_the_one() {
    let catalog = read(
        "<Service Id='A' DisplayName='one'/><Service Id=' A ' DisplayName='two'/><Service Id='a'/>",
    )
    .unwrap();
    assert_eq!(ids(&catalog), ["A", "A", "a"]);
    assert_eq!(catalog.service("A").unwrap().display_name, "one");
}

#[test]
fn odd_entries_cost_only_themselves() {
    let catalog = read(
        "<Service/><Service Id=''/><Service Id=' &#9; ' DisplayName='blank'/><Service Id='with space'/>\
         <Other Id='X'/><Service Id='B'><Service Id='Nested'/></Service>text<Service Id='C'></Service>",
    )
    .unwrap();
    assert_eq!(ids(&catalog), ["with space", "B", "C"]);
}

#[test]
fn services_elsewhere_are_not_services() {
    let document = "<TableClothCatalog><Service Id='A'/><Companions><Service Id='B'/></Companions>\
        <X><InternetServices><Service Id='C'/></InternetServices></X>\
        <InternetServices><Service Id='D'/></InternetServices></TableClothCatalog>";
    assert_eq!(ids(&parse(document.as_bytes()).unwrap()), ["D"]);
}

#[test]
fn text_in_pieces_is_one_text() {
    let service = only(
        "<Service Id='A' DisplayName='A &amp; B &#44032;&#xAC01; &lt;&gt;&quot;&apos;'>\
         <SearchKeywords>one<!-- in between -->two<![CDATA[<&three>]]>&amp;&#x26;fo<?pi?>ur\tfive;\r\nsix</SearchKeywords>\
         <CompatNotes><![CDATA[]]></CompatNotes></Service>",
    );
    assert_eq!(service.display_name, "A & B 가각 <>\"'");
    assert_eq!(
        service.search_keywords.as_deref(),
        Some("onetwo<&three>&&four\tfive;\nsix")
    );
    assert_eq!(service.compat_notes.as_deref(), Some(""));
}

#[test]
fn keywords_of_many_kilobytes_are_searched_whole() {
    let keywords = "우리;\t은행;\t".repeat(2000) + "끝";
    let service = only(&format!(
        "<Service Id='A'><SearchKeywords>{keywords}</SearchKeywords></Service>"
    ));
    assert_eq!(service.search_keywords.as_deref(), Some(keywords.as_str()));
    assert!(service.search_text.ends_with('끝'));
}

#[test]
fn unknown_elements_and_attributes_are_passed_over() {
    let service = only(
        "<Service Id='A' Later='x' xmlns:t='urn:t' t:Id='B'><New><Newer a='1'>text<SearchKeywords>x</SearchKeywords></Newer></New>\
         <Packages><Package Name='P'><Sub/></Package><Group><Package Name='Q'/></Group></Packages></Service>",
    );
    assert_eq!(service.packages.len(), 1);
    assert_eq!(service.search_keywords, None);
}

#[test]
fn not_well_formed_documents_are_refused() {
    let good = "<Service Id='Good'/>";
    for bad in [
        "<Service Id='A' DisplayName='A & B'/>",
        "<Service Id='A' DisplayName='A &amp B'/>",
        "<Service Id='A' DisplayName='A &unknown; B'/>",
        "<Service Id='A' DisplayName='&#0;'/>",
        "<Service Id='A' DisplayName='&#xD800;'/>",
        "<Service Id='A' DisplayName='&#x110000;'/>",
        "<Service Id='A' DisplayName='&#-1;'/>",
        "<Service Id='A' DisplayName='&#;'/>",
        "<Service Id='A'><CompatNotes>A & B</CompatNotes></Service>",
        "<Service Id='A'><CompatNotes>A & B; C</CompatNotes></Service>",
        "<Service Id='A'><CompatNotes>A &</CompatNotes></Service>",
        "<Service Id='A'><CompatNotes>A &nbsp; B</CompatNotes></Service>",
        "<Service Id='A'><Unknown>A & B</Unknown></Service>",
        "<Service Id='A'><CompatNotes>A < B</CompatNotes></Service>",
        "<Service Id='A'>",
        "<Service Id='A'></service>",
        "</Service>",
        "<Service Id='A'><Packages></Service></Packages>",
        "<Service Id='A'><CompatNotes>open</Service>",
        "<Service Id='A />",
        "<Service Id='A DisplayName='B'/>",
        "<Service Id='A' DisplayName='B/>",
        "<Service Id=\"A><Package Name=\"B\"/></Service>",
        "<Service Id='A' Id='B'/>",
        "<Service Id/>",
        "<Service Id=/>",
        "<Service Id=A/>",
        "<Service Id=\"A DisplayName=\"B\"Url=\"C\"/>",
        "<Service' Id='A'/>",
        "<Service 'A'/>",
        "<Service Id='A' <Package='B'/>",
        "<Service Id='A'",
        "<Service Id='A'\n<Service Id='B'/>",
        "<!-- never closed <Service Id='A'/>",
        "<!-- a -- b -->",
        "<![CDATA[ never closed",
        "<!ELEMENT x>",
        "<?never closed",
        "< Service Id='A'/>",
        "<>",
        "<Service Id='A'/ >",
    ] {
        for services in [
            format!("{good}{bad}"),
            format!("{bad}{good}"),
            format!("{good}\n{bad}\n{good}"),
        ] {
            let outcome = read(&services);
            assert!(
                matches!(outcome, Err(ParseError::Malformed { .. })),
                "{services}: {:?}",
                outcome.map(|catalog| ids(&catalog).join(","))
            );
        }
    }
}

#[test]
fn nothing_may_stand_beside_the_root() {
    let good = catalog("<Service Id='A'/>");
    for after in [
        "text",
        "<x/>",
        "<x></x>",
        "&amp;",
        "<![CDATA[x]]>",
        &good,
        "</x>",
    ] {
        let outcome = parse(format!("{good}{after}").as_bytes());
        assert!(
            matches!(outcome, Err(ParseError::Malformed { .. })),
            "{after}"
        );
    }
    for after in ["\r\n\t ", "<!-- x -->", "<?x?>"] {
        assert!(
            parse(format!("{good}{after}").as_bytes()).is_ok(),
            "{after}"
        );
    }
}

#[test]
fn a_document_cut_anywhere_is_refused() {
    let end = WHOLE.trim_end().len();
    for cut in 0..WHOLE.len() {
        let outcome = parse(&WHOLE.as_bytes()[..cut]);
        assert_eq!(outcome.is_ok(), cut >= end, "cut at {cut}");
    }
}

#[test]
fn a_document_damaged_anywhere_does_no_harm() {
    let whole = WHOLE.as_bytes();
    for place in 0..whole.len() {
        for replacement in [
            None,
            Some(b'<'),
            Some(b'&'),
            Some(b'"'),
            Some(0),
            Some(0xff),
        ] {
            let mut damaged = whole.to_vec();
            match replacement {
                Some(byte) => damaged[place] = byte,
                None => drop(damaged.remove(place)),
            }
            let _ = parse(&damaged);
        }
    }
}

#[test]
fn catalogs_without_services_are_refused() {
    for empty in [
        "",
        "<Service/>",
        "<Service DisplayName='x'/>",
        "<!-- <Service Id='A'/> -->",
    ] {
        assert!(
            matches!(read(empty), Err(ParseError::NoServices)),
            "{empty}"
        );
    }
    for empty in [
        "<TableClothCatalog/>",
        "<TableClothCatalog></TableClothCatalog>",
    ] {
        assert!(
            matches!(parse(empty.as_bytes()), Err(ParseError::NoServices)),
            "{empty}"
        );
    }
}

#[test]
fn other_documents_are_told_from_broken_catalogs() {
    let euc_kr_page = b"<html><head><title>\xb7\xce\xb1\xd7\xc0\xce</title></head></html>";
    let others: [&[u8]; 22] = [
        b"",
        b"\xef\xbb\xbf",
        b" \r\n",
        b"\x00\x00",
        b"OK",
        b"{\"error\":\"x\"}",
        b"\x1f\x8b\x08\x00\x00\x00",
        b"<html></html>",
        b"<!DOCTYPE html><html lang=ko><body>Wi-Fi<br></body></html>",
        b"<!doctype html>\n<html amp hidden><script>if (a<b && c) x()</script>",
        b"<!DOCTYPE html><title>x</title>",
        b"<!-- a -- b --><html>",
        b"<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0\" \"http://www.w3.org/x.dtd\"><html/>",
        b"<script>location='/login'</script>",
        b"<meta http-equiv=refresh content=0>",
        b"<?php echo 1 ?>",
        b"<Error><Code>AccessDenied</Code></Error>",
        b"<tableclothcatalog/>",
        b"<TableClothCatalogs/>",
        b"<x:TableClothCatalog xmlns:x='urn:x'/>",
        b"<rss><TableClothCatalog/></rss>",
        euc_kr_page,
    ];
    for other in others {
        let outcome = parse(other);
        assert!(
            matches!(outcome, Err(ParseError::OtherRoot(_))),
            "{}: {outcome:?}",
            String::from_utf8_lossy(other)
        );
    }
}

#[test]
fn other_encodings_are_refused() {
    let mut euc_kr =
        b"<?xml version='1.0' encoding='euc-kr'?><TableClothCatalog><InternetServices>\
        <Service Id='WooriBank' DisplayName='"
            .to_vec();
    euc_kr.extend(b"\xbf\xec\xb8\xae\xc0\xba\xc7\xe0'/></InternetServices></TableClothCatalog>");
    let utf16 = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let marked = format!("\u{feff}{WHOLE}");
        marked.encode_utf16().flat_map(bytes).collect()
    };
    let mut overlong = catalog("<Service Id='A' DisplayName='x'/>").into_bytes();
    let place = overlong.iter().position(|&byte| byte == b'x').unwrap();
    overlong.splice(place..=place, [0xc0, 0x80]);
    for document in [
        euc_kr,
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
        overlong,
    ] {
        let outcome = parse(&document);
        assert!(
            matches!(outcome, Err(ParseError::NotUtf8(_))),
            "{outcome:?}"
        );
    }
    let unmarked: Vec<u8> = WHOLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(parse(&unmarked).is_err());
}

#[test]
fn utf_8_under_another_name_is_read() {
    let document = format!(
        "<?xml version='1.0' encoding='ks_c_5601-1987'?>{}",
        catalog("<Service Id='A' DisplayName='우리'/>")
    );
    let catalog = parse(document.as_bytes()).unwrap();
    assert_eq!(catalog.services()[0].display_name, "우리");
}
