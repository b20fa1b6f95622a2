//! The proleptic Gregorian calendar: days and microseconds since 1970-01-01, as numbers, without a library's range limits.

/// Microseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
pub(crate) const MINUTE: i64 = 60 * SECOND;
/// Microseconds of an hour.
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// Microseconds of a day.
pub(crate) const DAY: i64 = 24 * HOUR;
/// 4714-11-24 BC, PostgreSQL's first day, in days since 1970-01-01.
pub(crate) const FIRST_DAY: i64 = -2_440_588;
/// 5874897-12-31, PostgreSQL's last date.
pub(crate) const LAST_DAY: i64 = 2_145_042_905;

/// A date; year 0 is 1 BC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Civil {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

/// Days since 1970-01-01 (Howard Hinnant's `days_from_civil`).
pub(crate) fn days(date: Civil) -> i64 {
    let y = if date.month <= 2 { date.year - 1 } else { date.year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((date.month + 9) % 12) + 2) / 5 + date.day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a day number.
pub(crate) fn civil(days: i64) -> Civil {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let yoe = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let doy = of_era - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    Civil { year: yoe + era * 400 + i64::from(month <= 2), month, day: doy - (153 * mp + 2) / 5 + 1 }
}

/// Days of a month.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// `date` plus `months`, the day clamped to the end of the month.
pub(crate) fn add_months(days_since_epoch: i64, months: i64) -> i64 {
    if months == 0 {
        return days_since_epoch;
    }
    let d = civil(days_since_epoch);
    let total = d.year * 12 + d.month - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    days(Civil { year, month, day: d.day.min(days_in_month(year, month)) })
}

/// Day number and microsecond of the day.
pub(crate) fn split(micros: i64) -> (i64, i64) {
    (micros.div_euclid(DAY), micros.rem_euclid(DAY))
}

/// 0 (Sunday) to 6.
pub(crate) fn weekday(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

/// ISO year and week of a day.
pub(crate) fn iso_week(day: i64) -> (i64, i64) {
    let monday_based = (day + 3).rem_euclid(7);
    let thursday = day - monday_based + 3;
    let year = civil(thursday).year;
    let first = days(Civil { year, month: 1, day: 1 });
    (year, (thursday - first) / 7 + 1)
}

/// 1 to 366.
pub(crate) fn day_of_year(day: i64) -> i64 {
    day - days(Civil { year: civil(day).year, month: 1, day: 1 }) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for day in (FIRST_DAY..LAST_DAY).step_by(99_991).chain(-800_000..-799_000) {
            let date = civil(day);
            assert_eq!(days(date), day, "{date:?}");
            assert!(date.day >= 1 && date.day <= days_in_month(date.year, date.month));
        }
        assert_eq!(civil(0), Civil { year: 1970, month: 1, day: 1 });
        assert_eq!(civil(FIRST_DAY), Civil { year: -4713, month: 11, day: 24 });
        assert_eq!(civil(LAST_DAY), Civil { year: 5_874_897, month: 12, day: 31 });
        assert_eq!(weekday(0), 4);
        assert_eq!(iso_week(days(Civil { year: 2021, month: 1, day: 3 })), (2020, 53));
    }

    #[test]
    fn months_clamp_to_the_end() {
        let jan31 = days(Civil { year: 2024, month: 1, day: 31 });
        assert_eq!(civil(add_months(jan31, 1)), Civil { year: 2024, month: 2, day: 29 });
        assert_eq!(civil(add_months(jan31, -11)), Civil { year: 2023, month: 2, day: 28 });
    }
}
