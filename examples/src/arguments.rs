//! Command line of an example.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process;

use lexopt::{Arg, Parser};

/// An optional argument, told from the others by its place.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Its name in the help.
    pub name: &'static str,
    /// What it is, for the help.
    pub help: &'static str,
    /// Its value if it is not given.
    pub default: &'static str,
}

impl Argument {
    /// The file of a picture.
    pub const fn picture(default: &'static str) -> Self {
        Self { name: "PICTURE.svg", help: "where the picture is written", default }
    }
}

/// Values of the arguments, in the order of their declaration.
#[derive(Debug)]
pub struct Arguments<const N: usize> {
    declared: [Argument; N],
    values: [OsString; N],
}

impl<const N: usize> Arguments<N> {
    /// Reads the command line.
    ///
    /// Exits with status 0 after printing the help if asked for it, and with status 2 on anything not declared.
    pub fn read(about: &str, declared: [Argument; N]) -> Self {
        Self::read_after("--example", about, declared)
    }

    /// Reads the command line of an example of a package that has to be named.
    ///
    /// Exits as [`read`](Self::read).
    pub fn read_of(package: &str, about: &str, declared: [Argument; N]) -> Self {
        Self::read_after(&format!("-p {package} --example"), about, declared)
    }

    fn read_after(options: &str, about: &str, declared: [Argument; N]) -> Self {
        let mut parser = Parser::from_env();
        let program = parser.bin_name().map(Path::new).and_then(Path::file_stem);
        let name = program.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let mut values = declared.map(|argument| OsString::from(argument.default));
        let mut places = values.iter_mut();
        loop {
            match parser.next() {
                Ok(None) => return Self { declared, values },
                Ok(Some(Arg::Short('h') | Arg::Long("help"))) => {
                    print_help(&format!("{options} {name}"), about, &declared);
                    process::exit(0);
                }
                Ok(Some(Arg::Value(value))) => match places.next() {
                    Some(place) => *place = value,
                    None => refuse(&format!("unexpected argument {}", value.display())),
                },
                Ok(Some(option)) => refuse(&option.unexpected().to_string()),
                Err(error) => refuse(&error.to_string()),
            }
        }
    }

    /// The value at a place as a path.
    pub fn path(&self, place: usize) -> &Path {
        Path::new(&self.values[place])
    }

    /// The value at a place as a number; exits with status 2 if it is none.
    pub fn number(&self, place: usize) -> u64 {
        let value: &OsStr = &self.values[place];
        let number = value.to_str().and_then(|text| text.parse().ok());
        number.unwrap_or_else(|| {
            refuse(&format!("{} is not a whole number: {}", self.declared[place].name, value.display()))
        })
    }
}

fn print_help(which: &str, about: &str, declared: &[Argument]) {
    crate::print!("{about}\n\nUsage: cargo run --release {which}");
    crate::print!("{}", if declared.is_empty() { "" } else { " --" });
    for argument in declared {
        crate::print!(" [{}]", argument.name);
    }
    crate::println!("\n");
    let width = declared.iter().map(|argument| argument.name.len() + 2).fold("-h, --help".len(), usize::max);
    for Argument { name, help, default } in declared {
        crate::println!("  {:<width$}  {help} [default: {default}]", format!("[{name}]"));
    }
    crate::println!("  {:<width$}  print this help", "-h, --help");
}

fn refuse(reason: &str) -> ! {
    eprintln!("error: {reason}\n\n--help lists the arguments.");
    process::exit(2)
}
