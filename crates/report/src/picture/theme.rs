//! How pictures look: one block of CSS in each of them.
//!
//! Light, also where a page is printed; dark where the reader's screen is. Nothing is told by a colour alone: a mark without a
//! verdict is hollow, a void one is a cross, and words stand beside each. Blue and grey stay apart for whoever sees few colours.
//! The ramp of the map of latency is cividis, light to dark on paper and dark to light on a dark screen.

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
.bourdon .halo{stroke:#ffffff;stroke-width:5;fill:none}
.bourdon .warm-up{fill:#dde2e8}
.bourdon .heat-1{fill:#cab963}
.bourdon .heat-2{fill:#aba072}
.bourdon .heat-3{fill:#8d8977}
.bourdon .heat-4{fill:#727375}
.bourdon .heat-5{fill:#575d6d}
.bourdon .heat-6{fill:#3a496a}
.bourdon .heat-7{fill:#193364}
.bourdon .heat-8{fill:#00224e}
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
.bourdon .warm-up{fill:#2b333d}
.bourdon .halo{stroke:#0d1117}
.bourdon .heat-1{fill:#48526c}
.bourdon .heat-2{fill:#61656f}
.bourdon .heat-3{fill:#797877}
.bourdon .heat-4{fill:#918c77}
.bourdon .heat-5{fill:#aca171}
.bourdon .heat-6{fill:#c8b864}
.bourdon .heat-7{fill:#e4cf50}
.bourdon .heat-8{fill:#fee838}
}
";
