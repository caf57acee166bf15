//! The `icon` command, and what a bundle's icon must be.

use std::{fs, io, path::PathBuf};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{self, Options, Tree},
};

/// Width and height in pixels, as clients recommend it.
const SIZE: u32 = 512;

/// Makes the icon's PNG file from its drawing.
#[derive(clap::Args)]
pub(crate) struct Icon {
    /// The drawing
    #[arg(long, default_value = "mcpb/icon.svg")]
    svg: PathBuf,
    /// The file to write
    #[arg(long, default_value = "mcpb/icon.png")]
    out: PathBuf,
}

/// Why there is no icon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IconError {
    /// A file that cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// A drawing that is no SVG.
    #[error("the drawing cannot be read")]
    Drawing(#[from] usvg::Error),
    /// A drawing that is not square.
    #[error("the drawing is {0}×{1}, and a square is needed")]
    NotSquare(f32, f32),
    /// Not a PNG file, or a damaged one.
    #[error("the icon is no PNG file: {0}")]
    NotPng(String),
    /// A PNG of the wrong size.
    #[error("the icon is {0}×{1} pixels, and {SIZE}×{SIZE} are needed")]
    Size(u32, u32),
}

impl Icon {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), IconError> {
        let svg = fs::read_to_string(&self.svg)
            .map_err(|error| IconError::File(self.svg.clone(), error))?;
        fs::write(&self.out, png(&svg)?).map_err(|error| IconError::File(self.out, error))
    }
}

/// The drawing as a PNG file.
fn png(svg: &str) -> Result<Vec<u8>, IconError> {
    draw(svg)?
        .encode_png()
        .map_err(|error| IconError::NotPng(error.to_string()))
}

#[expect(clippy::cast_precision_loss, reason = "512 is exact")]
fn draw(svg: &str) -> Result<Pixmap, IconError> {
    let tree = Tree::from_str(svg, &Options::default())?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let blank = Pixmap::new(SIZE, SIZE).filter(|_| (width - height).abs() < f32::EPSILON);
    let mut picture = blank.ok_or(IconError::NotSquare(width, height))?;
    let scale = SIZE as f32 / width;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut picture.as_mut(),
    );
    Ok(picture)
}

/// Refuses what is not a PNG of the right size.
pub(crate) fn check(png: &[u8]) -> Result<(), IconError> {
    let picture = Pixmap::decode_png(png).map_err(|error| IconError::NotPng(error.to_string()))?;
    if (picture.width(), picture.height()) != (SIZE, SIZE) {
        return Err(IconError::Size(picture.width(), picture.height()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = include_str!("../../mcpb/icon.svg");
    const PNG: &[u8] = include_bytes!("../../mcpb/icon.png");

    #[test]
    fn the_png_is_what_the_drawing_gives() {
        check(PNG).unwrap();
        let (file, drawn) = (Pixmap::decode_png(PNG).unwrap(), draw(SVG).unwrap());
        // CPUs may round differently.
        let differing = file.data().iter().zip(drawn.data());
        let largest = differing.map(|(a, b)| a.abs_diff(*b)).max();
        assert!(largest <= Some(2), "run: packaging icon ({largest:?})");
    }

    #[test]
    fn the_command_writes_the_same_bytes_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let svg = folder.path().join("icon.svg");
        fs::write(&svg, SVG).unwrap();
        let [first, second] = ["1.png", "2.png"].map(|name| {
            let out = folder.path().join(name);
            let svg = svg.clone();
            Icon {
                svg,
                out: out.clone(),
            }
            .run()
            .unwrap();
            fs::read(out).unwrap()
        });
        check(&first).unwrap();
        assert!(first == second);
    }

    #[test]
    fn other_files_are_refused() {
        let small = Pixmap::new(SIZE, SIZE - 1).unwrap().encode_png().unwrap();
        assert!(matches!(check(&small), Err(IconError::Size(512, 511))));
        for broken in [&b""[..], b"GIF89a", &PNG[..PNG.len() / 2]] {
            assert!(matches!(check(broken), Err(IconError::NotPng(_))));
        }
    }

    #[test]
    fn a_drawing_is_square() {
        let wide = SVG.replacen("height=\"512\"", "height=\"256\"", 1);
        assert!(matches!(png(&wide), Err(IconError::NotSquare(..))));
        assert!(matches!(png("<svg"), Err(IconError::Drawing(_))));
    }
}
