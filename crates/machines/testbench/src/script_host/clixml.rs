//! PowerShell's errors in CLIXML, the form that is used if the output is not a terminal: XML objects with lines such
//! as `<S S="Error">`, in which control characters are written as `_x000D_`.

/// The header with which such a text begins.
const HEAD: &str = "#< CLIXML";

/// Returns the text of errors and warnings; a text in another form is returned unchanged.
pub(crate) fn words(text: &str) -> String {
    let Some(at) = text.find(HEAD) else { return text.to_owned() };
    let (before, xml) = (&text[..at], text[at + HEAD.len()..].trim_start());
    // Other output may follow the objects, such as that of a program.
    let end = xml.rfind("</Objs>").map_or(xml.len(), |end| end + "</Objs>".len());
    let (xml, after) = xml.split_at(end);
    match roxmltree::Document::parse(xml) {
        Ok(document) => {
            let lines = document.descendants().filter(|node| {
                node.has_tag_name_local("S")
                    && node.attribute("S").is_some_and(|stream| stream != "progress" && stream != "verbose")
            });
            let said: String = lines.filter_map(|node| node.text()).map(unescaped).collect();
            format!("{before}{said}{}", after.trim_start_matches(['\r', '\n']))
        }
        Err(_) => text.to_owned(),
    }
}

trait Local {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl Local for roxmltree::Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.tag_name().name() == name
    }
}

/// Decodes escapes such as `_x000D__x000A_`, which is a line break.
fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let letter = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match letter {
            Some(letter) => {
                out.push(letter);
                rest = &rest[at + 7..];
            }
            None => {
                out.push_str("_x");
                rest = &rest[at + 2..];
            }
        }
    }
    (out + rest).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn clixml_objects_become_plain_text() {
        let xml = "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\
                   <Obj S=\"progress\" RefId=\"0\"><MS><S N=\"x\">Preparing</S></MS></Obj>\
                   <S S=\"Error\">run : The term 'run' is not recognized_x000D__x000A_</S>\
                   <S S=\"Error\">At line:1 char:1_x000D__x000A_</S></Objs>";
        let expected = "run : The term 'run' is not recognized\nAt line:1 char:1\n";
        assert_eq!(words(&format!("#< CLIXML\n{xml}")), expected);
        assert_eq!(words(&format!("first\n#< CLIXML\n{xml}\nlast\n")), format!("first\n{expected}last\n"));
        for plain in ["no objects", "#< CLIXML\n<Objs>cut o", "#< CLIXML", "a_x000"] {
            assert_eq!(words(plain), plain);
        }
    }
}
