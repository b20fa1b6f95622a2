//! How deep the tree of a statement will be, from its tokens alone, so that nothing recursive ever sees a tree that is too deep.
//!
//! A bracket, CASE or an operator chain of n terms is as deep as its deepest operand plus one per bracket or operator (chains are
//! left-deep trees). The estimate is never below the real depth; it is above it by a few levels at most, because a few words count as
//! operators wherever they stand.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Binding levels, loosest first: set operations, OR, AND, NOT, comparisons, other operators.
const LEVELS: usize = 6;
const SET: usize = 0;
const OR: usize = 1;
const AND: usize = 2;
const NOT: usize = 3;
const COMPARISON: usize = 4;
const OTHER: usize = 5;

#[derive(Clone, Copy, Default)]
struct Chain {
    operators: usize,
    deepest: usize,
}

#[derive(Clone, Copy, Default)]
struct Group {
    chains: [Chain; LEVELS],
    is_case: bool,
    /// Angle brackets of a type (`ARRAY<...>`) rather than parentheses.
    is_angle: bool,
}

impl Group {
    /// Closes the chains that bind tighter than `level`: they are an operand there.
    fn fold_to(&mut self, level: usize) {
        let mut depth = 0;
        for chain in self.chains.iter_mut().skip(level + 1).rev() {
            depth = depth.max(chain.deepest) + chain.operators;
            *chain = Chain::default();
        }
        self.chains[level].deepest = self.chains[level].deepest.max(depth);
    }

    fn operator(&mut self, level: usize) {
        self.fold_to(level);
        self.chains[level].operators += 1;
    }

    fn depth(&mut self) -> usize {
        self.fold_to(SET);
        self.chains[SET].deepest + self.chains[SET].operators
    }
}

/// An upper bound of the depth of the statement's tree; stops counting somewhere above `limit`.
pub(crate) fn nesting_depth(tokens: &[TokenWithSpan], limit: usize) -> usize {
    let mut groups = vec![Group::default()];
    let mut previous: Option<&Token> = None;
    for token in tokens.iter().map(|t| &t.token).filter(|t| !matches!(t, Token::Whitespace(_))) {
        step(&mut groups, token, previous);
        if groups.len() > limit + 1 {
            return groups.len();
        }
        previous = Some(token);
    }
    while groups.len() > 1 {
        close(&mut groups);
    }
    groups.last_mut().map_or(0, Group::depth)
}

fn step(groups: &mut Vec<Group>, token: &Token, previous: Option<&Token>) {
    let in_case = groups.last().is_some_and(|g| g.is_case);
    let in_angle = groups.last().is_some_and(|g| g.is_angle);
    match token {
        Token::LParen | Token::LBracket | Token::LBrace => groups.push(Group::default()),
        Token::Lt if opens_type(previous) => groups.push(Group { is_angle: true, ..Group::default() }),
        Token::Gt if in_angle => close(groups),
        Token::ShiftRight if in_angle => {
            close(groups);
            close(groups);
        }
        Token::RParen | Token::RBracket | Token::RBrace => {
            while groups.len() > 1 && groups.last().is_some_and(|g| g.is_case || g.is_angle) {
                close(groups);
            }
            close(groups);
            if *token == Token::RBracket && previous == Some(&Token::LBracket) {
                operate(groups, OTHER);
            }
        }
        Token::Word(w) if w.quote_style.is_none() => match w.keyword {
            Keyword::CASE => groups.push(Group { is_case: true, ..Group::default() }),
            Keyword::END if in_case => close(groups),
            keyword => match word_level(keyword) {
                Some(level) => operate(groups, level),
                None if is_separator(keyword) => separate(groups),
                None => {}
            },
        },
        Token::Comma | Token::SemiColon => separate(groups),
        other => {
            if let Some(level) = symbol_level(other) {
                operate(groups, level);
            }
        }
    }
}

fn operate(groups: &mut [Group], level: usize) {
    if let Some(group) = groups.last_mut() {
        group.operator(level);
    }
}

fn separate(groups: &mut [Group]) {
    if let Some(group) = groups.last_mut() {
        group.fold_to(SET);
    }
}

fn close(groups: &mut Vec<Group>) {
    if groups.len() < 2 {
        return;
    }
    let depth = groups.pop().map_or(0, |mut g| g.depth()) + 1;
    if let Some(outer) = groups.last_mut() {
        let operand = &mut outer.chains[OTHER].deepest;
        *operand = (*operand).max(depth);
    }
}

fn opens_type(previous: Option<&Token>) -> bool {
    matches!(previous, Some(Token::Word(w)) if matches!(w.keyword, Keyword::ARRAY | Keyword::STRUCT | Keyword::MAP | Keyword::ROW))
}

fn word_level(keyword: Keyword) -> Option<usize> {
    use Keyword as K;
    Some(match keyword {
        K::UNION | K::EXCEPT | K::INTERSECT | K::MINUS | K::PIVOT | K::UNPIVOT | K::MATCH_RECOGNIZE => SET,
        K::EXPLAIN | K::PREPARE | K::IF | K::WHILE => SET,
        K::OR | K::XOR => OR,
        K::AND => AND,
        K::NOT => NOT,
        K::IS | K::IN | K::LIKE | K::ILIKE | K::SIMILAR | K::RLIKE | K::REGEXP | K::BETWEEN | K::NOTNULL | K::OVERLAPS => COMPARISON,
        K::ARRAY | K::AT | K::COLLATE | K::INTERVAL | K::OPERATOR | K::DIV | K::MEMBER | K::PRIOR => OTHER,
        _ => return None,
    })
}

fn is_separator(keyword: Keyword) -> bool {
    use Keyword as K;
    matches!(
        keyword,
        K::SELECT | K::FROM | K::WHERE | K::GROUP | K::HAVING | K::ORDER | K::LIMIT | K::OFFSET | K::ON | K::JOIN | K::SET | K::VALUES
    ) || matches!(keyword, K::WHEN | K::THEN | K::ELSE | K::AS | K::WINDOW | K::QUALIFY | K::RETURNING | K::WITH | K::USING)
}

fn symbol_level(token: &Token) -> Option<usize> {
    use Token as T;
    Some(match token {
        T::Eq | T::DoubleEq | T::Neq | T::Lt | T::Gt | T::LtEq | T::GtEq | T::Spaceship => COMPARISON,
        T::EOF | T::Number(..) | T::Char(_) | T::Period | T::Comma | T::SemiColon | T::Whitespace(_) | T::Word(_) | T::Placeholder(_) => {
            return None;
        }
        literal if is_literal(literal) => return None,
        _ => OTHER,
    })
}

fn is_literal(token: &Token) -> bool {
    use Token as T;
    matches!(
        token,
        T::SingleQuotedString(_)
            | T::DoubleQuotedString(_)
            | T::DollarQuotedString(_)
            | T::EscapedStringLiteral(_)
            | T::UnicodeStringLiteral(_)
            | T::NationalStringLiteral(_)
            | T::HexStringLiteral(_)
            | T::SingleQuotedByteStringLiteral(_)
    )
}
