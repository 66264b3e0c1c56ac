//! Finds the small changes of a source: the mutants of every function in it.
//!
//! A mutant is a list of edits of the source text within the body of one function. The text around an edit stays the
//! same, so the replaced text describes the mutant. A mutant need not compile; the build finds those that do not.
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, BinOp, Block, Expr, FnArg, ImplItem, Item, Lit, Signature, Stmt, TraitItem, Type, UnOp,
    spanned::Spanned,
    visit::{self, Visit},
};

/// The maximum length of a quoted piece of source; of a longer piece, the middle is left out.
const MAX_SHOWN: usize = 72;

/// Traits for the representation of values. Their implementations are not part of an algorithm.
const REPRESENTATION: &[&str] = &["Value", "Local", "Narrow", "Debug", "Display", "Default"];

/// Types that call a part and judge its results. Their mutants would be mutants of the specification.
const SPECIFICATION: &[&str] = &["Harness", "UsageMonitor", "InSequence"];

/// A function of an algorithm and its mutants.
#[derive(Debug)]
pub struct Function {
    /// The name, preceded by that of its type, if it has one.
    pub name: String,
    /// The range of its body in the source, braces included.
    pub body: Range<usize>,
    /// The mutants, in the order of the source.
    pub mutants: Vec<Mutant>,
}

/// A small change of a function.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The line of the source at which the change begins.
    pub line: usize,
    /// The line of the paper in the changed text, if there is one.
    pub paper_line: Option<String>,
    /// A description of the change, unique in its function.
    pub description: String,
    /// Whether a fence is removed, which matters only on a memory with store buffers.
    pub is_fence: bool,
    edits: Vec<(Range<usize>, String)>,
}

impl Mutant {
    /// The body with the change.
    #[must_use]
    pub fn apply(&self, source: &str, body: &Range<usize>) -> String {
        let mut text = String::new();
        let mut at = body.start;
        for (range, replacement) in &self.edits {
            text += &source[at..range.start];
            text += replacement;
            at = range.end;
        }
        text + &source[at..body.end]
    }
}

/// The functions of a source that have mutants.
///
/// # Errors
/// If the source is not Rust.
pub fn functions(source: &str) -> syn::Result<Vec<Function>> {
    let file = syn::parse_file(source)?;
    let mut found = Vec::new();
    items(source, &file.items, &mut found);
    found.retain(|function| !function.mutants.is_empty());
    Ok(found)
}

fn items(source: &str, items: &[Item], found: &mut Vec<Function>) {
    for item in items {
        match item {
            Item::Fn(function) if !is_test(&function.attrs) => {
                found.extend(mutated(source, "", &function.sig, &function.block));
            }
            Item::Impl(implementation) if is_algorithm(implementation) => {
                let of = last_segment(&implementation.self_ty);
                for item in &implementation.items {
                    if let ImplItem::Fn(function) = item {
                        found.extend(mutated(source, &of, &function.sig, &function.block));
                    }
                }
            }
            Item::Trait(definition) => {
                for item in &definition.items {
                    if let TraitItem::Fn(function) = item
                        && let Some(block) = &function.default
                    {
                        found.extend(mutated(source, &definition.ident.to_string(), &function.sig, block));
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("test"))
}

fn is_algorithm(implementation: &syn::ItemImpl) -> bool {
    let implements = |name: &str| {
        let last = implementation.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        last.is_some_and(|segment| segment.ident == name)
    };
    let of = last_segment(&implementation.self_ty);
    !REPRESENTATION.iter().any(|name| implements(name)) && !SPECIFICATION.contains(&of.as_str())
}

fn last_segment(of: &Type) -> String {
    match of {
        Type::Path(path) => path.path.segments.last().map_or(String::new(), |segment| segment.ident.to_string()),
        _ => String::new(),
    }
}

/// The function with its mutants.
///
/// `None` for constructors, which create registers, for constant functions, for rules of parts, and for functions that
/// return an opaque type.
fn mutated(source: &str, of: &str, signature: &Signature, block: &Block) -> Option<Function> {
    let text = |spanned: &dyn Fn() -> Range<usize>| &source[spanned()];
    let takes_space = signature.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => text(&|| typed.ty.span().byte_range()).contains("Space<"),
        FnArg::Receiver(_) => false,
    });
    let opaque = text(&|| signature.output.span().byte_range()).contains("impl ");
    if takes_space || opaque || signature.constness.is_some() || signature.ident == "rule" {
        return None;
    }
    let mut points = Points { source, mutants: Vec::new() };
    points.visit_block(block);
    let mut mutants = points.mutants;
    mutants.sort_by_key(|mutant| mutant.edits[0].0.start);
    number_equal_descriptions(&mut mutants);
    let name = if of.is_empty() { signature.ident.to_string() } else { format!("{of}::{}", signature.ident) };
    Some(Function { name, body: block.span().byte_range(), mutants })
}

/// Makes descriptions unique: the second of two that are equal ends in `#2`.
fn number_equal_descriptions(mutants: &mut [Mutant]) {
    for at in (0..mutants.len()).rev() {
        let description = mutants[at].description.clone();
        let before = mutants[..at].iter().filter(|mutant| mutant.description == description).count();
        if before > 0 {
            mutants[at].description = format!("{description} #{}", before + 1);
        }
    }
}

/// Collects the mutants of one body.
struct Points<'s> {
    source: &'s str,
    mutants: Vec<Mutant>,
}

impl<'s> Points<'s> {
    fn text(&self, range: &Range<usize>) -> &'s str {
        &self.source[range.clone()]
    }

    fn add(&mut self, description: String, edits: Vec<(Range<usize>, String)>) {
        let start = edits[0].0.start;
        let touched: String = edits.iter().map(|(range, _)| self.text(range)).collect();
        let paper_line = touched.split(".at(\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_string);
        let is_fence = touched.contains(".fence()");
        let line = 1 + self.source[..start].matches('\n').count();
        self.mutants.push(Mutant { line, paper_line, description, is_fence, edits });
    }

    fn change(&mut self, range: Range<usize>, to: &str) {
        let description = format!("`{}` -> `{}`", shown(self.text(&range)), shown(to));
        self.add(description, vec![(range, to.to_string())]);
    }

    fn remove(&mut self, range: Range<usize>) {
        let description = format!("remove `{}`", shown(self.text(&range)));
        self.add(description, vec![(range, String::new())]);
    }

    /// Replaces a result by constants, as if the operation were left out. The build keeps those of the right type.
    fn replace_result(&mut self, result: &Expr) {
        let range = result.span().byte_range();
        match result {
            Expr::Try(_) => self.change(range, "()"),
            Expr::MethodCall(_) | Expr::Call(_) if mentions_memory(self.text(&range)) && !is_ok(result) => {
                for nothing in ["Ok(())", "Ok(true)", "Ok(false)"] {
                    self.change(range.clone(), nothing);
                }
            }
            _ => {}
        }
    }

    /// Exchanges neighbouring statements that both access the memory.
    fn swap(&mut self, one: &Stmt, other: &Stmt) {
        let (first, second) = (one.span().byte_range(), other.span().byte_range());
        let (a, b) = (self.text(&first), self.text(&second));
        let has_no_order = |text: &str| !mentions_memory(text) || text.contains(".fence()") || is_hint(text);
        if has_no_order(a) || has_no_order(b) || a == b {
            return;
        }
        let (new_first, new_second) = match (one, other) {
            (Stmt::Expr(Expr::Try(tried), Some(_)), Stmt::Expr(last, None)) if has_result(last) => {
                (format!("{b}?;"), self.text(&tried.expr.span().byte_range()).to_string())
            }
            (_, Stmt::Expr(last, None)) if has_result(last) => return,
            _ => (b.to_string(), a.to_string()),
        };
        let description = format!("swap `{}` and `{}`", shown(a), shown(b));
        self.add(description, vec![(first, new_first), (second, new_second)]);
    }
}

impl<'ast> Visit<'ast> for Points<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        for (at, statement) in block.stmts.iter().enumerate() {
            let range = statement.span().byte_range();
            let is_last = at + 1 == block.stmts.len();
            match statement {
                Stmt::Expr(result, None) if is_last => self.replace_result(result),
                Stmt::Expr(..) if !is_hint(self.text(&range)) => self.remove(range),
                _ => {}
            }
        }
        for pair in block.stmts.windows(2) {
            self.swap(&pair[0], &pair[1]);
        }
        visit::visit_block(self, block);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        if !matches!(*closure.body, Expr::Block(_)) {
            self.replace_result(&closure.body);
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !matches!(*arm.body, Expr::Block(_)) {
            self.replace_result(&arm.body);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        if !has_let(&branch.cond) {
            let range = branch.cond.span().byte_range();
            self.change(range.clone(), "true");
            if branch.else_branch.is_some() {
                self.change(range, "false");
            }
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let others: &[&str] = match binary.op {
            BinOp::Lt(_) => &["<=", ">"],
            BinOp::Le(_) => &["<", ">="],
            BinOp::Gt(_) => &[">=", "<"],
            BinOp::Ge(_) => &[">", "<="],
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::And(_) => &["||"],
            BinOp::Or(_) => &["&&"],
            _ => &[],
        };
        let range = binary.span().byte_range();
        let (left, right) = (binary.left.span().byte_range(), binary.right.span().byte_range());
        let operator = binary.op.span().byte_range();
        let is_logic = matches!(binary.op, BinOp::And(_) | BinOp::Or(_));
        let binds = |operand: &Expr| has_let(operand);
        if !(is_logic && (binds(&binary.left) || binds(&binary.right))) {
            for other in others {
                let description = format!("`{}`: `{}` -> `{other}`", shown(self.text(&range)), self.text(&operator));
                self.add(description, vec![(operator.clone(), (*other).to_string())]);
            }
        }
        if is_logic {
            for (dropped, operand, kept) in [(&binary.left, &left, &right), (&binary.right, &right, &left)] {
                if !binds(dropped) {
                    let description =
                        format!("`{}`: without `{}`", shown(self.text(&range)), shown(self.text(operand)));
                    let kept = self.text(kept).to_string();
                    self.add(description, vec![(range.clone(), kept)]);
                }
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, UnOp::Not(_)) {
            let operand = self.text(&unary.expr.span().byte_range()).to_string();
            self.change(unary.span().byte_range(), &operand);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let range = call.span().byte_range();
        match call.method.to_string().as_str() {
            "next" if call.args.is_empty() => {
                let receiver = self.text(&call.receiver.span().byte_range()).to_string();
                self.change(range, &receiver);
            }
            name @ ("max" | "min") => {
                let other = if name == "max" { "min" } else { "max" };
                let description = format!("`{}`: `{name}` -> `{other}`", shown(self.text(&range)));
                self.add(description, vec![(call.method.span().byte_range(), other.to_string())]);
            }
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        if let Lit::Bool(value) = &literal.lit {
            let context = self.line_around(value.span().byte_range());
            let description = format!("{} -> {} in `{}`", value.value, !value.value, shown(&context));
            self.add(description, vec![(value.span().byte_range(), (!value.value).to_string())]);
        }
    }
}

impl Points<'_> {
    /// The trimmed line of the source around `range`.
    fn line_around(&self, range: Range<usize>) -> String {
        let start = self.source[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.source[range.end..].find('\n').map_or(self.source.len(), |at| range.end + at);
        self.source[start..end].trim().to_string()
    }
}

/// Whether the text mentions the memory, which is called `m` by convention.
fn mentions_memory(text: &str) -> bool {
    fn any(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(name) => name == "m",
            TokenTree::Group(group) => any(group.stream()),
            _ => false,
        })
    }
    text.parse().is_ok_and(any)
}

/// Whether the statement is a hint to the processor, or only keeps the state space small.
fn is_hint(text: &str) -> bool {
    text == "m.relax();" || text.ends_with(".sort_unstable();")
}

fn is_ok(call: &Expr) -> bool {
    matches!(call, Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Ok")))
}

/// Whether the last expression of a block is a call whose result the block passes on.
fn has_result(last: &Expr) -> bool {
    matches!(last, Expr::MethodCall(_) | Expr::Call(_)) && !is_ok(last)
}

fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// The text on one line, without comments, and without its middle if it is long.
fn shown(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let text = words.join(" ");
    let count = text.chars().count();
    if count <= MAX_SHOWN {
        return text;
    }
    let half = MAX_SHOWN / 2 - 1;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}…{end}")
}
