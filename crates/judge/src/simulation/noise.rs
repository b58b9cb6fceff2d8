//! What block log ratios look like, in units of their standard deviation, about a truth of 0.

use crate::testing::{normal, student3};

/// A way in which block log ratios vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noise {
    /// Independent and normal.
    Normal,
    /// Independent, Student's t with three degrees of freedom, scaled to a standard deviation of 1.
    HeavyTails,
    /// Normal, but one block, whichever, is off by five standard deviations, always to the same side.
    OneBadBlock,
    /// First-order autoregressive with correlation 0.5, normal.
    Correlated,
    /// Normal, with half a standard deviation more in each block; the truth is the value before it began to move.
    Trend,
}

impl Noise {
    pub(super) const ALL: [Noise; 5] =
        [Noise::Normal, Noise::HeavyTails, Noise::OneBadBlock, Noise::Correlated, Noise::Trend];

    pub(super) fn words(self) -> &'static str {
        match self {
            Noise::Normal => "normal",
            Noise::HeavyTails => "heavy tails (t, 3 d.f.)",
            Noise::OneBadBlock => "one bad block (5 σ off)",
            Noise::Correlated => "neighbours correlated (AR(1), 0.5)",
            Noise::Trend => "trend (σ ÷ 2 a block)",
        }
    }

    /// The log ratios of so many blocks.
    pub(super) fn blocks(self, blocks: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        let fault = self.fault(blocks, rng);
        self.scatter(blocks, rng).into_iter().zip(fault).map(|(value, fault)| value + fault).collect()
    }

    /// The random part, with a standard deviation of 1.
    pub(super) fn scatter(self, blocks: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        const CORRELATION: f64 = 0.5;
        let heavy = self == Noise::HeavyTails;
        let one = |rng: &mut fastrand::Rng| if heavy { student3(rng) / 3.0_f64.sqrt() } else { normal(rng) };
        let mut values: Vec<f64> = (0..blocks).map(|_| one(rng)).collect();
        if self == Noise::Correlated {
            for next in 1..blocks {
                let innovation = (1.0 - CORRELATION * CORRELATION).sqrt() * values[next];
                values[next] = CORRELATION * values[next - 1] + innovation;
            }
        }
        values
    }

    /// What comes on top of the scatter.
    pub(super) fn fault(self, blocks: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        let bad = rng.usize(..blocks);
        let at = |block: usize| match self {
            Noise::OneBadBlock if block == bad => 5.0,
            Noise::Trend => 0.5 * block as f64,
            _ => 0.0,
        };
        (0..blocks).map(at).collect()
    }
}
