/// The step of SplitMix64's counter: 2^64 ÷ the golden ratio, made odd.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele et al. 2014): each bit of its input touches all of its output.
#[inline]
pub const fn stirred(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed for one of many that follow from `seed`, each bit of either touching all of it.
pub const fn seed_of(seed: u64, number: u64) -> u64 {
    stirred(seed.wrapping_add(number.wrapping_mul(GOLDEN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation (Vigna's splitmix64.c) from the seed 0.
    #[test]
    fn it_is_that_of_split_mix() {
        let seen = [1, 2, 3].map(|step: u64| seed_of(0, step));
        assert_eq!(seen, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }
}
