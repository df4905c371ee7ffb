//! The targets of a release, and what it takes to build for them.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::{RELEASE_FEATURES, cargo, home, said, succeed};
use crate::files::told;
use crate::tools;

/// The targets of a release: static programs for every Linux of their architecture.
const RELEASED: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

/// What the program is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(pub String);

/// A target that cannot be built here.
pub struct Missing {
    pub target: String,
    pub why: String,
    /// The command that changes that.
    pub remedy: String,
}

impl Target {
    /// The processor, as Rust, Python and Linux name it.
    pub fn processor(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }

    /// The processor, as Debian and Go name it.
    pub fn architecture(&self) -> &str {
        match self.processor() {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        }
    }

    /// Whether its C library is glibc.
    pub fn uses_glibc(&self) -> bool {
        self.0.ends_with("-gnu")
    }

    /// Whether this machine has the processor.
    pub fn is_native(&self) -> bool {
        self.processor() == env::consts::ARCH
    }

    /// A command that runs a program of this target here.
    pub fn command(&self, program: &Path) -> Option<Command> {
        if self.is_native() {
            return Some(Command::new(program));
        }
        let mut command = Command::new(self.emulator()?);
        command.arg(program);
        Some(command)
    }

    /// The program that runs those of this target on another processor.
    pub fn emulator(&self) -> Option<String> {
        let names = ["-static", ""].map(|end| format!("qemu-{}{end}", self.processor()));
        names.into_iter().find(|name| tools::is_there(name))
    }

    /// The C compiler and linker for it: the name of a program, or none if Cargo finds it.
    fn compiler(&self) -> Option<String> {
        match (self.uses_glibc(), self.is_native()) {
            (true, true) => None,
            (true, false) => Some(format!("{}-linux-gnu-gcc", self.processor())),
            (false, true) => Some("musl-gcc".to_owned()),
            (false, false) => Some(format!("{}-linux-musl-gcc", self.processor())),
        }
    }

    /// Whether Zig is its C compiler and linker. Zig links glibc dynamically only.
    fn uses_zig(&self) -> bool {
        !self.uses_glibc() && tools::is_there("cargo-zigbuild")
    }

    /// The C library that is linked, as it names itself: for example `Debian GLIBC 2.41-12`. None if no
    /// C compiler for this target tells where it is.
    pub fn version_of_glibc(&self) -> Option<String> {
        let compiler = self.compiler().unwrap_or_else(|| "cc".to_owned());
        let library = fs::read(said(&compiler, &["-print-file-name=libc.a"]).trim()).ok()?;
        let start = b"GNU C Library (";
        let at = library.windows(start.len()).position(|part| part == start)? + start.len();
        let name = library[at..].split(|byte| *byte == b')').next()?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// Why it cannot be built here, if so.
    pub fn obstacle(&self) -> Option<Missing> {
        let missing = |why: String, remedy: String| {
            let target = self.0.clone();
            Some(Missing { target, why, remedy })
        };
        let folder = said("rustc", &["--print", "target-libdir", "--target", &self.0]);
        let libraries = Path::new(folder.trim()).read_dir().into_iter().flatten().flatten();
        let names: Vec<_> = libraries.map(|entry| entry.file_name()).collect();
        if !names.iter().any(|name| name.to_string_lossy().starts_with("libstd-")) {
            let why = "its standard library is not installed";
            return missing(why.to_owned(), format!("rustup target add {}", self.0));
        }
        if self.uses_zig() {
            return None;
        }
        let compiler = self.compiler().filter(|name| !tools::is_there(name))?;
        if self.uses_glibc() {
            let (processor, architecture) =
                (self.processor().replace('_', "-"), self.architecture());
            let remedy =
                format!("apt install gcc-{processor}-linux-gnu libc6-dev-{architecture}-cross");
            return missing(format!("{compiler} is not installed"), remedy);
        }
        let why = format!("neither cargo-zigbuild nor {compiler} is installed");
        missing(why, "pip install cargo-zigbuild".to_owned())
    }

    /// Builds the program: static, stripped, without the names of this machine's folders.
    pub fn build(&self, root: &Path) -> Result<(), String> {
        let sysroot = said("rustc", &["--print", "sysroot"]);
        let folders = [
            (home().display().to_string(), "/cargo"),
            (root.display().to_string(), "/trackbed"),
            (sysroot.trim().to_owned(), "/rust"),
        ];
        let maps = folders.map(|(folder, name)| format!("{folder}={name}"));
        let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
        flags.extend(maps.iter().map(|map| format!("--remap-path-prefix={map}")));
        let of_c = maps.map(|map| format!("-ffile-prefix-map={map}")).join(" ");
        let variable = self.0.replace('-', "_");
        let mut build = if self.uses_zig() { Command::new("cargo-zigbuild") } else { cargo() };
        build.args("rustc --release --locked --package trackbed --bin trackbed".split(' '));
        build.args(["--target", &self.0, "--features", RELEASE_FEATURES]).current_dir(root);
        // Cargo ignores a profile's `strip` for a package that has a profile of its own.
        build.args(["--", "-Cstrip=symbols"]);
        build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        build.env(format!("CFLAGS_{variable}"), of_c);
        if let Some(compiler) = self.compiler().filter(|_| !self.uses_zig()) {
            build.env(format!("CC_{variable}"), &compiler);
            build.env(format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()), compiler);
        }
        succeed(&mut build).map_err(told(format!("cargo build for {}", self.0)))
    }
}

/// The requested targets, or those of a release, as far as they have no obstacle. If one with musl has an
/// obstacle and the same with glibc has none, glibc takes its place.
pub fn available(
    requested: &[String],
    obstacle: impl Fn(&Target) -> Option<Missing>,
) -> (Vec<Target>, Vec<Missing>) {
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    let released = || RELEASED.map(str::to_owned).to_vec();
    let names = if requested.is_empty() { released() } else { requested.to_vec() };
    for target in names.into_iter().map(Target) {
        let Some(mut missed) = obstacle(&target) else {
            targets.push(target);
            continue;
        };
        let glibc = Target(target.0.replace("-musl", "-gnu"));
        if requested.is_empty() && obstacle(&glibc).is_none() {
            missed.why += &format!("; {}, linked statically, takes its place", glibc.0);
            targets.push(glibc);
        }
        missing.push(missed);
    }
    (targets, missing)
}
