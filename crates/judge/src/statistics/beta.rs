use statrs::function::gamma::ln_gamma;

/// Steps of a bisection: the width of the interval is halved as often.
const HALVINGS: u32 = 100;

/// Terms of the continued fraction at most. It takes some √max(a, b).
const MOST_TERMS: u32 = 10_000;

/// The value below which a beta distribution has a share `p`. By bisection, which always ends: the Newton steps of statrs
/// go round in circles for one hit in eight million.
pub(super) fn quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if share_below(middle, a, b) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The share of the distribution below `x`: the regularised incomplete beta function, by its continued fraction, which
/// converges fast on this side of the mean (Press et al., *Numerical Recipes*, 6.4).
fn share_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(x, a, b) / a,
        false => 1.0 - front * fraction(1.0 - x, b, a) / b,
    }
}

/// Lentz's way of evaluating it.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut sum = d;
    for term in 1..=MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = sum;
        for step in [even, odd] {
            d = 1.0 / away(1.0 + step * d);
            c = away(1.0 + step / c);
            sum *= c * d;
        }
        if (sum / before - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chance of at least `k` hits, each with chance `x`, of `n`: added up term by term.
    fn at_least(k: u32, n: f64, x: f64) -> f64 {
        let term = |i: u32| {
            let i = f64::from(i);
            let ways = ln_gamma(n + 1.0) - ln_gamma(i + 1.0) - ln_gamma(n - i + 1.0);
            (ways + i * x.ln() + (n - i) * (-x).ln_1p()).exp()
        };
        1.0 - (0..k).map(term).sum::<f64>()
    }

    /// I_x(k, n − k + 1) is that chance.
    #[test]
    fn the_share_below_is_a_binomial_tail() {
        for (k, n) in [(1, 10_u32), (5, 10), (1, 8_388_608), (127, 2_600_000), (3_000, 6_000), (20_000, 1_000_000)] {
            let (a, b) = (f64::from(k), f64::from(n - k + 1));
            for p in [0.000_001, 0.025, 0.5, 0.975] {
                let x = quantile(a, b, p);
                let seen = at_least(k, f64::from(n), x);
                assert!((seen - p).abs() < 1e-5, "{k} of {n}: {x} has {seen} below, not {p}");
            }
        }
    }
}
