//! The coverage page names only existing items.

use std::fs;
use std::path::Path;

/// All code of a folder, without comments.
fn code_of(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            code_of(&path, code);
        } else {
            let text = fs::read_to_string(&path).expect("a readable file");
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                code.push_str(line);
                code.push('\n');
            }
        }
    }
}

/// The identifiers of a text; single letters are names of variables or symbols.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.len() > 1 && !word.starts_with(|c: char| c == '_' || c.is_ascii_digit()))
}

#[test]
fn every_name_on_the_right_of_the_coverage_page_is_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/coverage.md")).expect("a readable page");
    let mut code = String::new();
    code_of(&root.join("src"), &mut code);
    let known: std::collections::BTreeSet<&str> = identifiers(&code).collect();

    let mut unknown = Vec::new();
    let mut count = 0;
    for row in page.lines().skip_while(|line| !line.starts_with("## Features of all elements")) {
        let Some(right) = row.strip_prefix('|').and_then(|row| row.split('|').nth(1)) else { continue };
        // Every second piece between backquotes is code; paths of files are not.
        for name in
            right.split('`').skip(1).step_by(2).filter(|code| !code.contains('/')).flat_map(identifiers)
        {
            count += 1;
            if !known.contains(name) {
                unknown.push(name);
            }
        }
    }
    assert!(unknown.is_empty(), "not in the code: {unknown:?}");
    // Were the tables written otherwise, nothing would be looked at.
    assert!(count > 150, "only {count} names found");
}
