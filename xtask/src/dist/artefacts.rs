//! The artefacts of one target: a tarball, a package for Debian, an image for containers.

use serde_json::{Value, json};

use super::contents::Contents;
use super::pack::{Tree, ar, gzip, sha256};
use super::target::Target;
use crate::files::told;

/// The file name of an artefact, and its bytes.
pub type Artefact = (String, Vec<u8>);

const REPOSITORY: &str = "https://github.com/trackbed/trackbed";

/// The program with all that a user may want to read.
pub fn tarball(contents: &Contents) -> Result<Artefact, String> {
    let folder = format!("trackbed-{}-{}", contents.version, contents.platform());
    let mut tree = contents.licences()?;
    tree.program("trackbed", contents.program.as_slice());
    for name in ["README.md", "CHANGELOG.md", "LIMITATIONS.md", "SECURITY.md"] {
        tree.file(name, contents.read(name)?);
    }
    tree.graft("man", &contents.pages.manual);
    tree.file("completions/trackbed.bash", contents.pages.bash.as_str());
    tree.file("completions/_trackbed", contents.pages.zsh.as_str());
    tree.file("completions/trackbed.fish", contents.pages.fish.as_str());
    tree.copy("systemd", &contents.units(), false).map_err(told("contrib"))?;
    tree.copy("scenarios", &contents.root.join("scenarios"), false).map_err(told("scenarios"))?;
    let mut all = Tree::default();
    all.graft(&folder, &tree);
    let packed = all.tar(contents.time).and_then(|tar| gzip(&tar)).map_err(told("the tarball"))?;
    Ok((format!("{folder}.tar.gz"), packed))
}

/// The package for Debian. It starts no service: each needs a configuration first.
pub fn debian(contents: &Contents) -> Result<Artefact, String> {
    let mut tree = Tree::default();
    tree.program("usr/bin/trackbed", contents.program.as_slice());
    // Where current releases of Debian keep units; /lib is a link to it.
    tree.copy("usr/lib/systemd/system", &contents.units(), false).map_err(told("contrib"))?;
    for (path, page) in contents.pages.manual.files() {
        tree.file(format!("usr/share/man/{path}.gz"), gzip(page).map_err(told(path))?);
    }
    let pages = contents.pages;
    tree.file("usr/share/bash-completion/completions/trackbed", pages.bash.as_str());
    tree.file("usr/share/zsh/vendor-completions/_trackbed", pages.zsh.as_str());
    tree.file("usr/share/fish/vendor_completions.d/trackbed.fish", pages.fish.as_str());
    let documents = "usr/share/doc/trackbed";
    tree.file(format!("{documents}/README.md"), contents.read("README.md")?);
    let changes = gzip(&contents.read("CHANGELOG.md")?).map_err(told("CHANGELOG.md"))?;
    tree.file(format!("{documents}/changelog.gz"), changes);
    let copyright = format!(
        "Trackbed, {REPOSITORY}, is MIT OR Apache-2.0. The texts, and the licences of all that the\n\
         program contains, are beside this file.\n"
    );
    tree.file(format!("{documents}/copyright"), copyright);
    tree.graft(documents, &contents.licences()?);
    let kilobytes = tree.files().map(|(_, bytes)| bytes.len().div_ceil(1024)).sum::<usize>();

    let mut control = Tree::default();
    control.file("control", control_file(contents, kilobytes));
    for (name, script) in [("postinst", AFTER), ("postrm", AFTER), ("prerm", BEFORE_REMOVAL)] {
        control.program(name, script);
    }
    let pack = |tree: &Tree| tree.tar(contents.time).and_then(|tar| gzip(&tar));
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", pack(&control).map_err(told("the package"))?),
        ("data.tar.gz", pack(&tree).map_err(told("the package"))?),
    ];
    let name = format!("trackbed_{}_{}.deb", contents.version, contents.target.architecture());
    Ok((name, ar(&members, contents.time)))
}

const AFTER: &str = include_str!("after.sh");

const BEFORE_REMOVAL: &str = include_str!("before-removal.sh");

fn control_file(contents: &Contents, kilobytes: usize) -> String {
    format!(
        include_str!("control"),
        version = contents.version,
        architecture = contents.target.architecture(),
        kilobytes = kilobytes,
        repository = REPOSITORY,
    )
}

/// The image: the layout of the Open Container Initiative, with the list that `docker load` reads.
pub fn image(contents: &Contents) -> Result<Artefact, String> {
    let mut files = Tree::default();
    files.program("usr/bin/trackbed", contents.program.as_slice());
    files.graft("usr/share/doc/trackbed", &contents.licences()?);
    files.folder("tmp", 0o1777);
    files.folder("work", 0o1777);
    let tar = files.tar(contents.time).map_err(told("the image"))?;
    let layer = gzip(&tar).map_err(told("the image"))?;
    let (version, date) = (contents.version, contents.date);
    let mut config = platform(contents.target);
    config["created"] = json!(date);
    config["config"] = json!({
        "Entrypoint": ["/usr/bin/trackbed"],
        "Cmd": ["--help"],
        "Env": ["PATH=/usr/bin"],
        "WorkingDir": "/work",
        "User": "65532:65532",
        "Labels": {
            "org.opencontainers.image.title": "trackbed",
            "org.opencontainers.image.version": version,
            "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            "org.opencontainers.image.source": REPOSITORY,
        },
    });
    config["rootfs"] =
        json!({ "type": "layers", "diff_ids": [format!("sha256:{}", sha256(&tar))] });
    config["history"] = json!([{ "created": date, "created_by": "cargo xtask dist" }]);
    let mut layout = Tree::default();
    let layer = blob(&mut layout, "application/vnd.oci.image.layer.v1.tar+gzip", layer);
    let config = blob(&mut layout, "application/vnd.oci.image.config.v1+json", text(&config));
    let for_docker = json!([{
        "Config": path_of(&config),
        "RepoTags": [format!("trackbed:{version}")],
        "Layers": [path_of(&layer)],
    }]);
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest =
        json!({ "schemaVersion": 2, "mediaType": kind, "config": config, "layers": [layer] });
    let mut manifest = blob(&mut layout, kind, text(&manifest));
    manifest["platform"] = platform(contents.target);
    // Podman takes the first for the image's name; Docker, if it keeps images in containerd, the second.
    manifest["annotations"] = json!({
        "org.opencontainers.image.ref.name": format!("trackbed:{version}"),
        "io.containerd.image.name": format!("docker.io/library/trackbed:{version}"),
    });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    layout.file("oci-layout", text(&json!({ "imageLayoutVersion": "1.0.0" })));
    layout.file("index.json", text(&index));
    layout.file("manifest.json", text(&for_docker));
    let packed = layout.tar(contents.time).map_err(told("the image"))?;
    Ok((format!("trackbed-{version}-{}.oci.tar", contents.platform()), packed))
}

/// What a container engine chooses an image by. Engines expect the variant of 64-bit ARM.
fn platform(target: &Target) -> Value {
    match target.architecture() {
        "arm64" => json!({ "architecture": "arm64", "os": "linux", "variant": "v8" }),
        other => json!({ "architecture": other, "os": "linux" }),
    }
}

/// Adds a blob under the name of its content, and returns its descriptor.
fn blob(layout: &mut Tree, kind: &str, bytes: Vec<u8>) -> Value {
    let (sum, size) = (sha256(&bytes), bytes.len());
    layout.file(format!("blobs/sha256/{sum}"), bytes);
    json!({ "mediaType": kind, "digest": format!("sha256:{sum}"), "size": size })
}

fn path_of(descriptor: &Value) -> String {
    format!("blobs/{}", descriptor["digest"].as_str().unwrap_or_default().replace(':', "/"))
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
