//! The targets of a release, and what it takes to build for them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{RELEASE_FEATURES, cargo, said};
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

    /// Why it cannot be built here, if so.
    fn obstacle(&self) -> Option<Missing> {
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
        let compiler = self.compiler().filter(|name| !uses_zig() && !tools::is_there(name))?;
        let why = format!("neither cargo-zigbuild nor {compiler} is installed");
        missing(why, "pip install cargo-zigbuild".to_owned())
    }

    /// Builds the program: static, stripped, without the names of this machine's folders.
    pub fn build(&self, root: &Path) -> Result<(), String> {
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
        let sysroot = said("rustc", &["--print", "sysroot"]);
        let folders = [
            (home.unwrap_or_default().display().to_string(), "/cargo"),
            (root.display().to_string(), "/trackbed"),
            (sysroot.trim().to_owned(), "/rust"),
        ];
        let maps = folders.map(|(folder, name)| format!("{folder}={name}"));
        let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
        flags.extend(maps.iter().map(|map| format!("--remap-path-prefix={map}")));
        let of_c = maps.map(|map| format!("-ffile-prefix-map={map}")).join(" ");
        let variable = self.0.replace('-', "_");
        let with_zig = self.compiler().is_some() && uses_zig();
        let mut build = if with_zig { Command::new("cargo-zigbuild") } else { cargo() };
        build.args([
            "rustc",
            "--release",
            "--locked",
            "--package",
            "trackbed",
            "--bin",
            "trackbed",
        ]);
        build.args(["--target", &self.0, "--features", RELEASE_FEATURES]).current_dir(root);
        // Cargo ignores a profile's `strip` for a package that has a profile of its own.
        build.args(["--", "-Cstrip=symbols"]);
        build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        build.env(format!("CFLAGS_{variable}"), of_c);
        if let Some(compiler) = self.compiler().filter(|_| !uses_zig()) {
            build.env(format!("CC_{variable}"), &compiler);
            build.env(format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()), compiler);
        }
        let status = build.status().map_err(|why| format!("cannot start cargo: {why}"))?;
        if status.success() { Ok(()) } else { Err(format!("cargo build for {}: {status}", self.0)) }
    }
}

/// Whether Zig is there as a C compiler for every target.
fn uses_zig() -> bool {
    tools::is_there("cargo-zigbuild")
}

/// The requested targets, or those of a release, as far as they can be built here. If the standard
/// library with musl is missing, glibc takes its place on the machine's own processor.
pub fn available(requested: &[String]) -> (Vec<Target>, Vec<Missing>) {
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    let released = || RELEASED.map(str::to_owned).to_vec();
    let names = if requested.is_empty() { released() } else { requested.to_vec() };
    for target in names.into_iter().map(Target) {
        let Some(mut obstacle) = target.obstacle() else {
            targets.push(target);
            continue;
        };
        let glibc = Target(target.0.replace("-musl", "-gnu"));
        if requested.is_empty() && glibc.is_native() && glibc.obstacle().is_none() {
            obstacle.why += &format!("; {}, linked statically, takes its place", glibc.0);
            targets.push(glibc);
        }
        missing.push(obstacle);
    }
    (targets, missing)
}
