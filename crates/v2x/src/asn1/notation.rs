//! Reads modules in ASN.1's own notation (ITU-T X.680), as far as the types here need it: without tags, named
//! numbers, and constraints other than ranges and sizes. What a module has is known, so errors panic.

use std::collections::BTreeMap;

use super::{Bounds, Field, Fields, Presence, Type};

/// Types by their names.
pub(crate) type Module = BTreeMap<&'static str, &'static Type>;

/// The types that a module defines, in any order.
pub(crate) fn read(module: &str) -> Module {
    let words = words(module);
    let marks = words.iter().enumerate().filter(|(_, word)| **word == "::=").map(|(at, _)| at);
    let definitions: BTreeMap<_, _> = marks.map(|at| (words[at - 1], &words[at + 1..])).collect();
    let names: Vec<&str> = definitions.keys().copied().collect();
    let mut reader = Reader { definitions, types: Module::new(), rest: &[] };
    for name in names {
        reader.named(name);
    }
    reader.types
}

/// The words and marks of a module, without comments.
fn words(module: &str) -> &'static [&'static str] {
    let lines = module.lines().map(|line| line.split("--").next().unwrap_or_default());
    let mut text = lines.collect::<Vec<_>>().join("\n");
    for mark in ["(", ")", "{", "}", ",", ".."] {
        text = text.replace(mark, &format!(" {mark} "));
    }
    text.replace(" .. .", " ... ").leak().split_whitespace().collect::<Vec<_>>().leak()
}

struct Reader {
    /// What follows `::=`, and all that follows that.
    definitions: BTreeMap<&'static str, &'static [&'static str]>,
    types: Module,
    rest: &'static [&'static str],
}

impl Reader {
    fn next(&mut self) -> &'static str {
        let (word, rest) = self.rest.split_first().expect("the module ends too early");
        self.rest = rest;
        word
    }

    /// Passes over `words` if they come next, and returns whether they do.
    fn takes(&mut self, words: &[&'static str]) -> bool {
        let rest = self.rest.strip_prefix(words);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, word: &str) {
        let next = self.next();
        assert!(next == word, "{next} in place of {word}");
    }

    fn named(&mut self, name: &str) -> &'static Type {
        if let Some(known) = self.types.get(name) {
            return known;
        }
        let defined = self.definitions.get_key_value(name);
        let (name, definition) = defined.unwrap_or_else(|| panic!("{name} is not defined"));
        let (name, outer) = (*name, std::mem::replace(&mut self.rest, definition));
        let found = self.kind();
        let ends = matches!(self.rest, [] | [_, "::=", ..]);
        assert!(ends, "{name} is followed by {:?}", self.rest.first());
        self.rest = outer;
        self.types.insert(name, found);
        found
    }

    fn kind(&mut self) -> &'static Type {
        let kind = match self.next() {
            "NULL" => Type::Null,
            "BOOLEAN" => Type::Boolean,
            "INTEGER" if self.takes(&["(", "0", "..", "MAX", ")"]) => Type::Natural,
            "INTEGER" if self.rest.first() == Some(&"(") => Type::Integer(self.bounds()),
            "INTEGER" => Type::Unbounded,
            "BIT" => Type::BitString(self.size("STRING")),
            "OCTET" => Type::OctetString(self.size("STRING")),
            "IA5String" => Type::Characters(7, self.size("")),
            "NumericString" => Type::Characters(4, self.size("")),
            "UTF8String" => Type::Utf8String(self.size("")),
            "ENUMERATED" => {
                let (names, added) = self.braces(Reader::next);
                Type::Enumerated(names, added)
            }
            "CHOICE" => Type::Choice(self.fields()),
            "SEQUENCE" if self.rest.first() == Some(&"{") => Type::Sequence(self.fields()),
            "SEQUENCE" => {
                let size = self.size("");
                self.expect("OF");
                Type::SequenceOf(size, self.kind())
            }
            name => return self.named(name),
        };
        Box::leak(Box::new(kind))
    }

    fn bounds(&mut self) -> Bounds {
        self.expect("(");
        let min = self.number();
        let max = if self.takes(&[".."]) { self.number() } else { min };
        let extensible = self.takes(&[",", "..."]);
        self.expect(")");
        Bounds { min, max, extensible }
    }

    fn number(&mut self) -> i64 {
        match self.next() {
            "MAX" => i64::MAX,
            word => word.parse().unwrap_or_else(|_| panic!("{word} is not a number")),
        }
    }

    /// The size in parentheses after the rest of the type's name: any, if there is none.
    fn size(&mut self, rest: &'static str) -> Bounds {
        self.takes(&[rest]);
        if !self.takes(&["(", "SIZE"]) {
            return Bounds { min: 0, max: i64::MAX, extensible: false };
        }
        let bounds = self.bounds();
        self.expect(")");
        bounds
    }

    /// What stands in braces; apart, what follows the extension marker where there is one.
    fn braces<T>(&mut self, item: fn(&mut Reader) -> T) -> (&'static [T], Option<&'static [T]>) {
        let (mut root, mut added) = (Vec::new(), None);
        self.expect("{");
        loop {
            match self.takes(&["..."]) {
                true => added = Some(Vec::new()),
                false => added.as_mut().unwrap_or(&mut root).push(item(self)),
            }
            if !self.takes(&[","]) {
                break;
            }
        }
        self.expect("}");
        (root.leak(), added.map(|added| &*added.leak()))
    }

    fn fields(&mut self) -> Fields {
        let (root, added) = self.braces(|reader| {
            let (name, of) = (reader.next(), reader.kind());
            let presence = match (reader.takes(&["OPTIONAL"]), reader.takes(&["DEFAULT"])) {
                (true, _) => Presence::Optional,
                (_, true) => Presence::Default(reader.number()),
                _ => Presence::Required,
            };
            Field { name, of, presence }
        });
        Fields { root, extensible: added.is_some(), additions: added.unwrap_or_default() }
    }
}
