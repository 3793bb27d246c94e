//! Headers as they are stored: a line for each, with escapes.

/// A line for each header.
pub(crate) fn text(headers: &[(String, String)]) -> String {
    let line =
        |(name, value): &(String, String)| format!("{}: {}\n", escaped(name, true), escaped(value, false));
    headers.iter().map(line).collect()
}

/// The same back.
pub(crate) fn read(text: &str) -> Vec<(String, String)> {
    text.lines().map(header).collect()
}

fn escaped(text: &str, colon: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            // PostgreSQL has no place for it in a text.
            '\0' => escaped.push_str("\\0"),
            ':' if colon => escaped.push_str("\\:"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A line back into name and value.
fn header(line: &str) -> (String, String) {
    let (mut name, mut value, mut in_value) = (String::new(), String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let c = match (c, in_value) {
            ('\\', _) => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('0') => '\0',
                Some(c) => c,
                None => break,
            },
            (':', false) => {
                in_value = true;
                chars.next();
                continue;
            }
            (c, _) => c,
        };
        if in_value { value.push(c) } else { name.push(c) }
    }
    (name, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_as_they_were() {
        let headers = [("stripe-signature", "t=1,v1=ab: cd\\n"), ("a:b\\", "two\r\nlines\0"), ("", "")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(&text(&headers)), headers);
    }
}
