//! Output that may end early.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write as _};
use std::process;

/// Writes to standard output. Ends the process if nobody reads it any more, as `head` does, or if it cannot be written.
pub fn write(text: Arguments<'_>) {
    match io::stdout().lock().write_fmt(text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            eprintln!("error: standard output: {error}");
            process::exit(1);
        }
    }
}

/// Like `std::print!`, but a closed pipe does not panic.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => { $crate::write(::std::format_args!($($argument)*)) };
}

/// Like `std::println!`, but a closed pipe does not panic.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($argument:tt)*) => { $crate::print!("{}\n", ::std::format_args!($($argument)*)) };
}
