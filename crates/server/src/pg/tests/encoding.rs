//! Values on the wire, compared with what PostgreSQL 15 sends.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array, IntervalMonthDayNanoArray, ListArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, UInt32Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, IntervalMonthDayNano, Schema as ArrowSchema};
use bytes::BytesMut;
use millstream_types::{Datum, Schema, SqlType};
use proptest::prelude::*;

use crate::pg::encode::{Format, RowEncoder, numeric_text};
use crate::pg::parameter::parameter;
use crate::pg::types::{from_oid, oid, type_modifier};

/// The cells of a one-column array; `None` for NULL.
fn cells(array: &ArrayRef, format: Format) -> Vec<Option<Vec<u8>>> {
    let schema = ArrowSchema::new(vec![Field::new("c", array.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![array.clone()]).unwrap();
    let schema = Schema::from_arrow(&batch.schema()).unwrap();
    let rows = RowEncoder::new(&batch, &schema, &[format]).unwrap();
    let cell = |row| {
        let mut out = BytesMut::new();
        rows.put(row, &mut out).unwrap();
        assert_eq!((out[0], usize::try_from(i32::from_be_bytes(out[1..5].try_into().unwrap())).unwrap()), (b'D', out.len() - 1));
        assert_eq!(out[5..7], [0, 1]);
        match i32::from_be_bytes(out[7..11].try_into().unwrap()) {
            -1 => None,
            length => {
                assert_eq!(usize::try_from(length).unwrap(), out.len() - 11);
                Some(out[11..].to_vec())
            }
        }
    };
    (0..rows.len()).map(cell).collect()
}

fn texts(array: ArrayRef) -> Vec<String> {
    cells(&array, Format::Text).into_iter().map(|c| c.map_or("NULL".to_owned(), |bytes| String::from_utf8(bytes).unwrap())).collect()
}

fn hex(array: ArrayRef) -> Vec<String> {
    let hex = |bytes: Vec<u8>| {
        bytes.iter().fold(String::new(), |mut text, b| {
            write!(text, "{b:02x}").unwrap();
            text
        })
    };
    cells(&array, Format::Binary).into_iter().map(|c| c.map_or("NULL".to_owned(), hex)).collect()
}

fn numeric(values: &[i128], scale: i8) -> ArrayRef {
    Arc::new(Decimal128Array::from(values.to_vec()).with_precision_and_scale(38, scale).unwrap())
}

#[test]
fn numbers_as_text() {
    assert_eq!(texts(Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))), ["t", "f", "NULL"]);
    assert_eq!(texts(Arc::new(Int16Array::from(vec![i16::MIN, i16::MAX]))), ["-32768", "32767"]);
    assert_eq!(texts(Arc::new(Int64Array::from(vec![i64::MIN, i64::MAX]))), ["-9223372036854775808", "9223372036854775807"]);
    assert_eq!(texts(Arc::new(UInt32Array::from(vec![u32::MAX]))), ["4294967295"]);
    let doubles =
        vec![0.1, -0.0, 1e15, 1e14, 1e-4, 1e-5, 1.5e300, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    assert_eq!(
        texts(Arc::new(Float64Array::from(doubles))),
        [
            "0.1",
            "-0",
            "1e+15",
            "100000000000000",
            "0.0001",
            "1e-05",
            "1.5e+300",
            "2.2250738585072014e-308",
            "5e-324",
            "1.7976931348623157e+308",
            "NaN",
            "Infinity",
            "-Infinity"
        ]
    );
    let reals = vec![0.1, 1e6, 123_456.0, 1.234_567_9e8, 1e-45, f32::MAX, f32::NAN];
    assert_eq!(texts(Arc::new(Float32Array::from(reals))), ["0.1", "1e+06", "123456", "1.2345679e+08", "1e-45", "3.4028235e+38", "NaN"]);
    assert_eq!(texts(numeric(&[0, 5, -5, 123_456], 2)), ["0.00", "0.05", "-0.05", "1234.56"]);
    let largest = 10_i128.pow(38) - 1;
    assert_eq!(texts(numeric(&[largest, -largest], 0)), ["9".repeat(38), format!("-{}", "9".repeat(38))]);
    assert_eq!(texts(numeric(&[largest], 38)), [format!("0.{}", "9".repeat(38))]);
}

#[test]
fn times_as_text() {
    let second = 1_000_000;
    let stamps =
        vec![0, 1, 500_000, -1, 1_577_934_245 * second, -62_135_596_800 * second, -62_135_596_801 * second, 253_402_300_800 * second];
    let expected = [
        "1970-01-01 00:00:00",
        "1970-01-01 00:00:00.000001",
        "1970-01-01 00:00:00.5",
        "1969-12-31 23:59:59.999999",
        "2020-01-02 03:04:05",
        "0001-01-01 00:00:00",
        "0001-12-31 23:59:59 BC",
        "10000-01-01 00:00:00",
    ];
    assert_eq!(texts(Arc::new(TimestampMicrosecondArray::from(stamps.clone()))), expected);
    let zoned = expected.map(|text| match text.strip_suffix(" BC") {
        Some(text) => format!("{text}+00 BC"),
        None => format!("{text}+00"),
    });
    assert_eq!(texts(Arc::new(TimestampMicrosecondArray::from(stamps).with_timezone("UTC"))), zoned);
    assert_eq!(
        texts(Arc::new(Date32Array::from(vec![0, -1, 18_263, -719_163]))),
        ["1970-01-01", "1969-12-31", "2020-01-02", "0001-12-31 BC"]
    );
    assert_eq!(
        texts(Arc::new(Time64MicrosecondArray::from(vec![0, 86_399_999_999, 3_600_100_000]))),
        ["00:00:00", "23:59:59.999999", "01:00:00.1"]
    );
    let intervals = [(0, 0, 0), (14, 3, 4_500_000_000), (-1, 1, 0), (0, 0, -1_000), (25, -3, 90_061_000_000_000)];
    let intervals = intervals.map(|(months, days, nanos)| IntervalMonthDayNano::new(months, days, nanos)).to_vec();
    assert_eq!(
        texts(Arc::new(IntervalMonthDayNanoArray::from(intervals))),
        ["00:00:00", "1 year 2 mons 3 days 00:00:04.5", "-1 mons +1 day", "-00:00:00.000001", "2 years 1 mon -3 days +25:01:01"]
    );
}

#[test]
fn other_values_as_text() {
    assert_eq!(texts(Arc::new(StringArray::from(vec![Some("ä\n"), Some(""), None]))), ["ä\n", "", "NULL"]);
    assert_eq!(texts(Arc::new(StringViewArray::from(vec!["a view that is longer than twelve"]))), ["a view that is longer than twelve"]);
    assert_eq!(texts(Arc::new(BinaryArray::from(vec![&b"\x00\xffa"[..], b""]))), ["\\x00ff61", "\\x"]);
    assert_eq!(texts(Arc::new(NullArray::new(2))), ["NULL", "NULL"]);
    let strings = ListArray::new(
        Arc::new(Field::new("item", DataType::Utf8, true)),
        OffsetBuffer::from_lengths([6, 0]),
        Arc::new(StringArray::from(vec![Some("a b"), None, Some("null"), Some(""), Some("q\"\\"), Some("x")])),
        None,
    );
    assert_eq!(texts(Arc::new(strings)), [r#"{"a b",NULL,"null","","q\"\\",x}"#, "{}"]);
    let flags = ListArray::new(
        Arc::new(Field::new("item", DataType::Boolean, true)),
        OffsetBuffer::from_lengths([2]),
        Arc::new(BooleanArray::from(vec![true, false])),
        None,
    );
    assert_eq!(texts(Arc::new(flags)), ["{t,f}"]);
    let row = StructArray::from(vec![
        (Arc::new(Field::new("a", DataType::Int32, true)), Arc::new(Int32Array::from(vec![Some(1)])) as ArrayRef),
        (Arc::new(Field::new("b", DataType::Utf8, true)), Arc::new(StringArray::from(vec![None::<&str>]))),
        (Arc::new(Field::new("c", DataType::Utf8, true)), Arc::new(StringArray::from(vec!["x y"]))),
    ]);
    assert_eq!(texts(Arc::new(row)), [r#"(1,,"x y")"#]);
}

#[test]
fn values_in_binary() {
    assert_eq!(hex(Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))), ["01", "00", "NULL"]);
    assert_eq!(hex(Arc::new(Int16Array::from(vec![-2]))), ["fffe"]);
    assert_eq!(hex(Arc::new(Int32Array::from(vec![1]))), ["00000001"]);
    assert_eq!(hex(Arc::new(Float64Array::from(vec![1.0]))), ["3ff0000000000000"]);
    assert_eq!(hex(Arc::new(Float32Array::from(vec![1.0]))), ["3f800000"]);
    assert_eq!(hex(Arc::new(StringArray::from(vec!["ab"]))), ["6162"]);
    assert_eq!(hex(Arc::new(BinaryArray::from(vec![&b"\x00\x01"[..]]))), ["0001"]);
    assert_eq!(hex(Arc::new(Date32Array::from(vec![10_957, 0]))), ["00000000", "ffffd533"]);
    assert_eq!(hex(Arc::new(TimestampMicrosecondArray::from(vec![946_684_800_000_001]))), ["0000000000000001"]);
    assert_eq!(hex(Arc::new(Time64MicrosecondArray::from(vec![1]))), ["0000000000000001"]);
    let interval = IntervalMonthDayNano::new(1, -2, 3_000);
    assert_eq!(hex(Arc::new(IntervalMonthDayNanoArray::from(vec![interval]))), ["0000000000000003fffffffe00000001"]);
    assert_eq!(hex(Arc::new(NullArray::new(1))), ["NULL"]);
    // numeric_send of 12345.678, -0.05, 0.00, 10000 and 0.00001
    assert_eq!(hex(numeric(&[12_345_678], 3)), ["0003000100000003000109291a7c"]);
    assert_eq!(hex(numeric(&[-5, 0], 2)), ["0001ffff4000000201f4", "0000000000000002"]);
    assert_eq!(hex(numeric(&[10_000], 0)), ["00010001000000000001"]);
    assert_eq!(hex(numeric(&[1], 5)), ["0001fffe0000000503e8"]);
}

#[test]
fn arrays_and_rows_in_binary() {
    let flat = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), Some(vec![]), None]);
    let item = |value: &str| format!("00000004{value}");
    assert_eq!(
        hex(Arc::new(flat)),
        [
            format!("0000000100000001000000170000000200000001{}ffffffff", item("00000001")),
            "000000000000000000000017".to_owned(),
            "NULL".to_owned()
        ]
    );
    let pairs = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![Some(3), Some(4)])]);
    let field = Arc::new(Field::new("item", pairs.data_type().clone(), true));
    let nested = ListArray::new(field, OffsetBuffer::from_lengths([2]), Arc::new(pairs), None);
    let items: String = ["00000001", "00000002", "00000003", "00000004"].map(item).concat();
    assert_eq!(hex(Arc::new(nested)), [format!("00000002000000000000001700000002000000010000000200000001{items}")]);
    let row = StructArray::from(vec![(Arc::new(Field::new("a", DataType::Int32, true)), Arc::new(Int32Array::from(vec![7])) as ArrayRef)]);
    assert_eq!(hex(Arc::new(row)), [format!("0000000100000017{}", item("00000007"))]);
    let uneven = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), Some(vec![])]);
    let field = Arc::new(Field::new("item", uneven.data_type().clone(), true));
    let uneven: ArrayRef = Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([2]), Arc::new(uneven), None));
    let schema = Arc::new(ArrowSchema::new(vec![Field::new("c", uneven.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(schema, vec![uneven]).unwrap();
    let rows = RowEncoder::new(&batch, &Schema::from_arrow(&batch.schema()).unwrap(), &[Format::Binary]).unwrap();
    assert_eq!(rows.put(0, &mut BytesMut::new()).unwrap_err().state().as_str(), "0A000");
}

#[test]
fn parameters_come_back_as_they_were_sent() {
    let values = [
        Datum::Boolean(true),
        Datum::SmallInt(i16::MIN),
        Datum::Integer(i32::MAX),
        Datum::BigInt(i64::MIN),
        Datum::Real(1.5e-10),
        Datum::Double(f64::NEG_INFINITY),
        Datum::Numeric { unscaled: -(10_i128.pow(38) - 1), precision: 38, scale: 16 },
        Datum::Numeric { unscaled: 1, precision: 38, scale: 16 },
        Datum::Text("naïve".to_owned()),
        Datum::Bytea(vec![0, 255]),
        Datum::Date(-719_162),
        Datum::Time(86_399_999_999),
        Datum::Timestamp(-1),
        Datum::TimestampTz(1_600_000_000_123_456),
        Datum::Interval { months: -13, days: 40, nanos: -5_000 },
    ];
    for value in values {
        for format in [Format::Text, Format::Binary] {
            let cell = cells(&value.to_array().unwrap(), format).remove(0).unwrap();
            let read = parameter(&Some(cell.into()), &value.sql_type(), format, 1).unwrap();
            assert_eq!(read, value, "{format:?}");
        }
        assert_eq!(from_oid(oid(&value.sql_type())), Some(value.sql_type()));
    }
    let array = SqlType::Array(Box::new(SqlType::Integer));
    assert_eq!(parameter(&Some("{1}".into()), &array, Format::Text, 1).unwrap_err().state().as_str(), "0A000");
}

#[test]
fn modifiers() {
    assert_eq!(type_modifier(&SqlType::Numeric { precision: 10, scale: 2 }), (10 << 16) + 2 + 4);
    assert_eq!(type_modifier(&SqlType::Numeric { precision: 38, scale: 16 }), -1);
    assert_eq!(type_modifier(&SqlType::Text), -1);
    assert_eq!(oid(&SqlType::Array(Box::new(SqlType::Array(Box::new(SqlType::Integer))))), 1007);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn binary_numerics_keep_every_digit(unscaled in -(10_i128.pow(38) - 1)..10_i128.pow(38), scale in 0_i8..=38) {
        let array = numeric(&[unscaled], scale);
        let binary = cells(&array, Format::Binary).remove(0).unwrap();
        let text = texts(array).remove(0);
        // More zeros on both sides are the same number.
        let same = |text: &str| {
            let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
            format!("{sign}{whole}.{fraction}")
        };
        prop_assert_eq!(same(&numeric_text(&binary).unwrap()), same(&text));
    }
}
