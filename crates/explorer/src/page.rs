//! The page: its script and style, and the two ways to put it together.
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

macro_rules! files {
    ($($name:literal),* $(,)?) => { concat!($(include_str!(concat!("../page/", $name)), "\n"),*) };
}

/// The script: one module, so the files name what they need in this order.
pub(crate) const SCRIPT: &str = files![
    "vendor/htm-preact.js",
    "vendor/uplot.js",
    "words.js",
    "browser.js",
    "model.js",
    "engine.js",
    "export.js",
    "parts.js",
    "picture.js",
    "chart.js",
    "catalogue.js",
    "algorithm.js",
    "paper.js",
    "registers.js",
    "processes.js",
    "execution.js",
    "puzzles.js",
    "measurements.js",
    "main.js",
];

pub(crate) const STYLE: &str = include_str!("../page/page.css");

const FRAME: &str = include_str!("../page/page.html");

/// What the served page may load, as a header: its own files and nothing else.
pub(crate) const SERVED_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page for the server, which has script and style in files of their own.
pub(crate) fn served() -> String {
    FRAME
        .replace("<!--STYLE-->", "<link rel=\"stylesheet\" href=\"/page.css\">")
        .replace("<!--SCRIPT-->", "<script type=\"module\" src=\"/page.js\"></script>")
        .replace("<!--DATA-->", "")
}

/// The page in one file, with these elements for its data. Of scripts and styles it executes only its own, known by their
/// hashes.
pub(crate) fn alone(data: &str) -> String {
    // The end of an element inside a script would end the script.
    let script = SCRIPT.replace("</script", "<\\/script");
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data: blob:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(STYLE)
    );
    FRAME
        .replace(
            "<!--STYLE-->",
            &format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{STYLE}</style>"),
        )
        .replace("<!--DATA-->", data)
        .replace("<!--SCRIPT-->", &format!("<script type=\"module\">{script}</script>"))
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
