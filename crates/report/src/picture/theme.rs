//! How pictures look: one block of CSS in each of them.
//!
//! Light, also where a page is printed; dark where the reader's screen is. Nothing is told by a colour alone: a mark without a
//! verdict is hollow, a void one is a cross, and words stand beside each. Blue and grey stay apart for whoever sees few colours.

/// Every rule begins with the class of the picture, so that one within a page changes nothing around it.
pub(crate) const CSS: &str = "
.bourdon text{font:13px system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;fill:#1f2328}
.bourdon .paper{fill:#ffffff}
.bourdon .title{font-size:16px;font-weight:600}
.bourdon .strong{font-weight:600}
.bourdon .small{font-size:12px;fill:#59636e}
.bourdon .number{font-variant-numeric:tabular-nums}
.bourdon .middle{text-anchor:middle}
.bourdon .end{text-anchor:end}
.bourdon .caution{font-weight:600}
.bourdon .strip{fill:#f3f4f6}
.bourdon .shade{fill:#c9ddf2}
.bourdon .grid{stroke:#d1d9e0;stroke-width:1}
.bourdon .edge{stroke:#0b3d66;stroke-width:1.5}
.bourdon .reference{stroke:#1f2328;stroke-width:1.5;stroke-dasharray:4 3}
.bourdon .line{stroke:#0b3d66;stroke-width:2.5;fill:none}
.bourdon .dot{fill:#0b3d66;stroke:#0b3d66;stroke-width:2}
.bourdon .open{fill:#ffffff;stroke:#0b3d66;stroke-width:2}
.bourdon .cross{stroke:#1f2328;stroke-width:2;fill:none}
.bourdon .bracket{stroke:#59636e;stroke-width:2;fill:none}
.bourdon .thin{stroke:#5b8db8;stroke-width:1;fill:none}
.bourdon .other{stroke:#a8b1ba;stroke-width:2;fill:none}
.bourdon .few{stroke-dasharray:4 3}
.bourdon .speck{fill:#5b8db8}
.bourdon .frame{fill:#c9ddf2;stroke:#ffffff;stroke-width:1}
.bourdon .framed{font-size:12px;pointer-events:none}
@media screen and (prefers-color-scheme:dark){
.bourdon text{fill:#e6edf3}
.bourdon .paper{fill:#0d1117}
.bourdon .small{fill:#9da7b3}
.bourdon .strip{fill:#1b222b}
.bourdon .shade{fill:#1f4368}
.bourdon .grid{stroke:#343c46}
.bourdon .edge{stroke:#9ecbff}
.bourdon .reference{stroke:#e6edf3}
.bourdon .line{stroke:#9ecbff}
.bourdon .dot{fill:#9ecbff;stroke:#9ecbff}
.bourdon .open{fill:#0d1117;stroke:#9ecbff}
.bourdon .cross{stroke:#e6edf3}
.bourdon .bracket{stroke:#9da7b3}
.bourdon .thin{stroke:#5b8db8}
.bourdon .other{stroke:#59636e}
.bourdon .speck{fill:#5b8db8}
.bourdon .frame{fill:#1f4368;stroke:#0d1117}
}
";
