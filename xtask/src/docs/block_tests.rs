use super::*;

fn sessions(page: &str) -> Vec<Session> {
    let blocks = blocks(page).unwrap();
    blocks
        .into_iter()
        .filter_map(|block| match block {
            Block::Session(session) => Some(session),
            Block::File(_) | Block::Quote(_) => None,
        })
        .collect()
}

#[test]
fn commands_come_with_their_lines_and_output() {
    let page = "# Title\n\n```console\n$ one\na\n\nb  \n$ two   # exit 2\n```\n\nEnd.\n";
    let [session] = sessions(page).try_into().unwrap();
    assert_eq!(session.line, 3);
    let [one, two] = session.commands.try_into().unwrap();
    assert_eq!((one.line, one.text.as_str(), one.status), (4, "one", 0));
    assert_eq!(one.shown, ["a", "", "b"]);
    assert_eq!((two.line, two.status), (8, 2));
    assert!(two.shown.is_empty());
}

#[test]
fn a_command_goes_on_behind_a_backslash() {
    let page = "```console\n$ trackbed run \\\n>   vru\nout\n```\n";
    let [session] = sessions(page).try_into().unwrap();
    assert_eq!(session.commands[0].text, "trackbed run   vru");
    assert_eq!(session.commands[0].shown, ["out"]);
}

#[test]
fn marks_are_read_and_wrong_ones_pointed_at() {
    let page = "```console,needs=nginx,needs=namespaces,real-time\n$ x\n```\n";
    let [session] = sessions(page).try_into().unwrap();
    assert_eq!(session.needs, ["nginx", "namespaces"]);
    assert!(session.real_time && !session.illustration);
    let (line, why) = blocks("text\n\n```console,realtime\n$ x\n```\n").unwrap_err();
    assert_eq!(line, 3);
    assert!(why.contains("unknown mark \"realtime\""), "{why}");
}

#[test]
fn a_named_block_is_a_file_and_other_languages_are_left_alone() {
    let page = "```toml,file=my.toml\na = 1\n\nb = 2\n```\n```toml\nc = 3\n```\n    $ indented\n";
    let file = File { name: "my.toml".to_owned(), text: "a = 1\n\nb = 2\n".to_owned() };
    assert_eq!(blocks(page).unwrap(), [Block::File(file)]);
    let (_, why) = blocks("```toml,file=../up.toml\n```\n").unwrap_err();
    assert!(why.contains("is not a file name"), "{why}");
}

#[test]
fn a_quotation_names_its_file() {
    let found = blocks("```rust,from=src/a.rs\nfn a() {}\n```\n").unwrap();
    let [Block::Quote(quote)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((quote.line, quote.path.as_str()), (1, "src/a.rs"));
    assert_eq!(quote.shown, ["fn a() {}"]);
}

#[test]
fn blocks_in_lists_lose_their_indentation() {
    let page = "1. First:\n\n   ```console\n   $ one\n     two\n   ```\n";
    let [session] = sessions(page).try_into().unwrap();
    assert_eq!(session.commands[0].text, "one");
    assert_eq!(session.commands[0].shown, ["  two"]);
}

#[test]
fn mistakes_name_their_line() {
    let line = |page: &str| blocks(page).unwrap_err().0;
    assert_eq!(line("\n```console\nno prompt\n```\n"), 3);
    assert_eq!(line("\n```console\n```\n"), 2);
    assert_eq!(line("```console\n$ a\n$ b \\\nc\n```\n"), 3);
    assert_eq!(line("```console\n$ a # exit often\n```\n"), 2);
    assert_eq!(line("```console,illustration\n$ a\n```\n"), 1);
}
