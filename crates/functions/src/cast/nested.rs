//! Arrays and rows: `{1,NULL,"a b"}` and `(1,,"a b")` out, casts by element.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use millstream_types::{Column, Error, Result, SqlState, SqlType};

use super::cast_array;
use super::text::{Writer, writer};

/// Writes `{...}`.
pub(super) fn array_writer<'a>(list: &'a ListArray, element: &SqlType) -> Result<Writer<'a>> {
    let nested = matches!(element, SqlType::Array(_));
    let write = writer(list.values(), element)?;
    Ok(Box::new(move |out, row| {
        let offsets = list.value_offsets();
        let bounds = |i: usize| usize::try_from(offsets[i]).unwrap_or(0);
        out.push('{');
        for item in bounds(row)..bounds(row + 1) {
            if item > bounds(row) {
                out.push(',');
            }
            if list.values().is_null(item) {
                out.push_str("NULL");
                continue;
            }
            let mut text = String::new();
            write(&mut text, item);
            let special = |c: char| matches!(c, '{' | '}' | ',' | '"' | '\\') || c.is_whitespace();
            if !nested && (text.is_empty() || text.eq_ignore_ascii_case("null") || text.contains(special)) {
                quote(out, &text, false);
            } else {
                out.push_str(&text);
            }
        }
        out.push('}');
    }))
}

/// Writes `(...)`.
pub(super) fn row_writer<'a>(rows: &'a StructArray, columns: &[Column]) -> Result<Writer<'a>> {
    let fields = columns.iter().zip(rows.columns()).map(|(c, a)| Ok((a, writer(a, &c.sql_type)?)));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |out, row| {
        out.push('(');
        for (i, (array, write)) in fields.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            if array.is_null(row) {
                continue;
            }
            let mut text = String::new();
            write(&mut text, row);
            let special = |c: char| matches!(c, '(' | ')' | ',' | '"' | '\\') || c.is_whitespace();
            if text.is_empty() || text.contains(special) { quote(out, &text, true) } else { out.push_str(&text) }
        }
        out.push(')');
    }))
}

fn quote(out: &mut String, text: &str, doubled: bool) {
    out.push('"');
    for c in text.chars() {
        if c == '"' || c == '\\' {
            out.push(if doubled { c } else { '\\' });
        }
        out.push(c);
    }
    out.push('"');
}

/// By element.
pub(super) fn cast_list(list: &ListArray, element: &SqlType) -> Result<ArrayRef> {
    let values = cast_array(list.values(), element)?;
    let field = Arc::new(Field::new("item", element.to_arrow(), true));
    Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
}

/// By column.
pub(super) fn cast_row(rows: &StructArray, columns: &[Column]) -> Result<ArrayRef> {
    let arrays = rows.columns().iter().zip(columns).map(|(a, c)| cast_array(a, &c.sql_type)).collect::<Result<Vec<_>>>()?;
    let DataType::Struct(fields) = SqlType::Row(columns.to_vec()).to_arrow() else {
        return Err(Error::internal("a row type is a struct"));
    };
    Ok(Arc::new(StructArray::try_new(fields, arrays, rows.nulls().cloned())?))
}

/// `{...}` of one dimension.
pub(super) fn parse_array(array: &StringArray, element: &SqlType) -> Result<ArrayRef> {
    if matches!(element, SqlType::Array(_) | SqlType::Row(_)) {
        return Err(Error::unsupported(format!("text of type {element}[]")));
    }
    let (mut items, mut lengths): (Vec<Option<String>>, Vec<usize>) = (Vec::new(), Vec::new());
    for value in array {
        let before = items.len();
        if let Some(text) = value {
            split_items(text, &mut items)?;
        }
        lengths.push(items.len() - before);
    }
    let texts: ArrayRef = Arc::new(StringArray::from(items));
    let field = Arc::new(Field::new("item", element.to_arrow(), true));
    let nulls = array.nulls().map(|n| NullBuffer::new(n.inner().clone()));
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), cast_array(&texts, element)?, nulls)?))
}

fn split_items(text: &str, items: &mut Vec<Option<String>>) -> Result<()> {
    let malformed = || Error::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\""));
    let inner = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}')).ok_or_else(malformed)?;
    if inner.trim().is_empty() {
        return Ok(());
    }
    let mut chars = inner.chars();
    loop {
        let (mut item, mut quoted, mut inside) = (String::new(), false, false);
        let more = loop {
            match chars.next() {
                None if inside => return Err(malformed()),
                None => break false,
                Some(',') if !inside => break true,
                Some('"') => {
                    inside = !inside;
                    quoted = true;
                }
                Some('\\') => item.push(chars.next().ok_or_else(malformed)?),
                Some('{' | '}') if !inside => return Err(Error::unsupported("an array of more than one dimension")),
                Some(c) => item.push(c),
            }
        };
        let bare = if quoted { item.as_str() } else { item.trim() };
        match () {
            () if quoted => items.push(Some(item)),
            () if bare.is_empty() => return Err(malformed()),
            () if bare.eq_ignore_ascii_case("null") => items.push(None),
            () => items.push(Some(bare.to_string())),
        }
        if !more {
            return Ok(());
        }
    }
}
