//! Functions of numbers. Roots, logarithms and trigonometry are of double precision; rounding and signs keep exact types.
//!
//! Rooms: [`exact`] rounds numerics and integers, [`real`] are the functions of double precision.

mod exact;
mod real;

use crate::arithmetic::{ArithmeticOp, apply};
use crate::function::{Function, Returns, functions};

/// The functions of this family.
pub(crate) const FUNCTIONS: &[Function] = functions! {
    "abs":
        (Float8) -> Float8 => |a| real::plain(a, f64::abs),
        (Int2) -> Int2 => exact::abs, (Int4) -> Int4 => exact::abs, (Int8) -> Int8 => exact::abs,
        (Float4) -> Float4 => real::abs4, (Numeric) -> [Returns::Same(0)] => exact::abs;
    "sign": (Float8) -> Float8 => |a| real::plain(a, real::sign), (Numeric) -> [Returns::With(exact::whole)] => exact::sign;
    "ceil": (Float8) -> Float8 => |a| real::plain(a, f64::ceil), (Numeric) -> [Returns::With(exact::whole)] => exact::ceil;
    "ceiling": (Float8) -> Float8 => |a| real::plain(a, f64::ceil), (Numeric) -> [Returns::With(exact::whole)] => exact::ceil;
    "floor": (Float8) -> Float8 => |a| real::plain(a, f64::floor), (Numeric) -> [Returns::With(exact::whole)] => exact::floor;
    "round":
        (Float8) -> Float8 => |a| real::plain(a, f64::round_ties_even),
        (Numeric) -> [Returns::With(exact::whole)] => exact::round,
        (Numeric, Int4) -> [Returns::With(exact::scaled)] => exact::round,
        // Both widths: a cast would hide from the result type that the argument is a constant.
        (Numeric, Int8) -> [Returns::With(exact::scaled)] => exact::round;
    "trunc":
        (Float8) -> Float8 => |a| real::plain(a, f64::trunc),
        (Numeric) -> [Returns::With(exact::whole)] => exact::trunc,
        (Numeric, Int4) -> [Returns::With(exact::scaled)] => exact::trunc,
        // Both widths: a cast would hide from the result type that the argument is a constant.
        (Numeric, Int8) -> [Returns::With(exact::scaled)] => exact::trunc;
    "mod":
        (Int2, Int2) -> Int2 => |a| apply(ArithmeticOp::Mod, a), (Int4, Int4) -> Int4 => |a| apply(ArithmeticOp::Mod, a),
        (Int8, Int8) -> Int8 => |a| apply(ArithmeticOp::Mod, a),
        (Numeric, Numeric) -> [Returns::With(exact::remainder)] => |a| apply(ArithmeticOp::Mod, a);
    "div": (Numeric, Numeric) -> [Returns::With(exact::quotient)] => exact::div;
    "gcd": (Int4, Int4) -> Int4 => |a| exact::gcd(a, false), (Int8, Int8) -> Int8 => |a| exact::gcd(a, false);
    "lcm": (Int4, Int4) -> Int4 => |a| exact::gcd(a, true), (Int8, Int8) -> Int8 => |a| exact::gcd(a, true);
    "sqrt": (Float8) -> Float8 => real::sqrt;
    "cbrt": (Float8) -> Float8 => |a| real::plain(a, f64::cbrt);
    "exp": (Float8) -> Float8 => |a| real::finite(a, f64::exp);
    "ln": (Float8) -> Float8 => |a| real::logarithm(a, f64::ln);
    "log": (Float8) -> Float8 => |a| real::logarithm(a, f64::log10), (Float8, Float8) -> Float8 => real::log;
    "log10": (Float8) -> Float8 => |a| real::logarithm(a, f64::log10);
    "log2": (Float8) -> Float8 => |a| real::logarithm(a, f64::log2);
    "power": (Float8, Float8) -> Float8 => real::power, (Numeric, Numeric) -> [Returns::With(exact::root)] => |a| apply(ArithmeticOp::Pow, a);
    "pow": (Float8, Float8) -> Float8 => real::power, (Numeric, Numeric) -> [Returns::With(exact::root)] => |a| apply(ArithmeticOp::Pow, a);
    "pi": () -> Float8 => real::pi;
    "degrees": (Float8) -> Float8 => |a| real::finite(a, f64::to_degrees);
    "radians": (Float8) -> Float8 => |a| real::plain(a, f64::to_radians);
    "sin": (Float8) -> Float8 => |a| real::angle(a, f64::sin);
    "cos": (Float8) -> Float8 => |a| real::angle(a, f64::cos);
    "tan": (Float8) -> Float8 => |a| real::angle(a, f64::tan);
    "cot": (Float8) -> Float8 => |a| real::angle(a, |v| 1.0 / v.tan());
    "asin": (Float8) -> Float8 => |a| real::within_one(a, f64::asin);
    "acos": (Float8) -> Float8 => |a| real::within_one(a, f64::acos);
    "atan": (Float8) -> Float8 => |a| real::plain(a, f64::atan);
    "atan2": (Float8, Float8) -> Float8 => real::atan2;
    "sinh": (Float8) -> Float8 => |a| real::plain(a, f64::sinh);
    "cosh": (Float8) -> Float8 => |a| real::plain(a, f64::cosh);
    "tanh": (Float8) -> Float8 => |a| real::plain(a, f64::tanh);
    "asinh": (Float8) -> Float8 => |a| real::plain(a, f64::asinh);
    "acosh": (Float8) -> Float8 => real::acosh;
    "atanh": (Float8) -> Float8 => |a| real::within_one(a, f64::atanh);
};
