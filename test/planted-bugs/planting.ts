import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync, type Options } from '@swc/core';
import ts from 'typescript';
import type { PlantedBug, Spoil } from './planted-bug.js';

/** A source file with the mistake in it. */
export interface Spoilt {
  readonly path: string;
  readonly text: string;
}

/** The part of the source tree that planting needs. */
export interface Sources {
  /** Undefined if there is no such file. */
  read(path: string): string | undefined;
  /** Every file of the product except tests. */
  paths(): readonly string[];
}

/** Every file that the bug changes; fails unless each mistake fits in exactly one place. */
export function spoilt(bug: PlantedBug, sources: Sources): Spoilt[] {
  const texts = new Map<string, string>();
  for (const spoil of [bug, ...(bug.also ?? [])]) {
    const path = fileOf(spoil, sources);
    const text = texts.get(path) ?? sources.read(path) ?? '';
    texts.set(path, spoiltText(text, spoil));
  }
  for (const [path, text] of texts) mustParse(path, text);
  return [...texts].map(([path, text]) => ({ path, text }));
}

/** The text with the mistake in it. */
export function spoiltText(text: string, { symbol, replace: [before, after] }: Spoil): string {
  const [declaration, ...others] = declarationsOf(text, symbol);
  if (declaration === undefined) throw new Error(`there is no ${symbol}`);
  if (others.length > 0) throw new Error(`there is more than one ${symbol}`);
  const [from, to] = [declaration.getStart(), declaration.getEnd()];
  const places = occurrences(text.slice(from, to), before);
  const [place] = places;
  if (place === undefined || places.length > 1)
    throw new Error(`${symbol} has ${places.length} times what is to be replaced: ${before}`);
  return text.slice(0, from + place.from) + after + text.slice(from + place.to);
}

/** As the build compiles it. */
export function compiled({ path, text }: Spoilt, root: string): string {
  const settings = readFileSync(join(root, '.swcrc'), 'utf8');
  // The compiler's types do not know options for editors.
  const options = JSON.parse(settings, (key, value: unknown) =>
    key === '$schema' ? undefined : value,
  ) as Options;
  return transformSync(text, { ...options, filename: path, sourceMaps: false, swcrc: false }).code;
}

/** The file of the symbol: its own or, after a move, the only file that exports it. */
function fileOf({ file, symbol }: Spoil, sources: Sources): string {
  const text = sources.read(file);
  if (text !== undefined && declarationsOf(text, symbol).length > 0) return file;
  const [outer = ''] = symbol.split('.');
  const exporting = sources.paths().filter((path) => {
    const other = sources.read(path) ?? '';
    return other.includes(outer) && exportsOf(other).has(outer) && declarationsOf(other, symbol).length > 0;
  });
  const [path] = exporting;
  if (path === undefined || exporting.length > 1)
    throw new Error(`${file} has no ${symbol}, and ${exporting.length} other files export one`);
  return path;
}

function parsed(text: string): ts.SourceFile {
  return ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
}

function exportsOf(text: string): ReadonlySet<string> {
  const exported = parsed(text).statements.filter(
    (statement) => ts.canHaveModifiers(statement) && isExported(ts.getModifiers(statement)),
  );
  return new Set(exported.flatMap((statement) => declared(statement).map(({ name }) => name)));
}

function isExported(modifiers: readonly ts.Modifier[] | undefined): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

/** An overload without a body does not count. */
function declarationsOf(text: string, symbol: string): ts.Node[] {
  const [outer, member] = symbol.split('.');
  return parsed(text)
    .statements.flatMap(declared)
    .filter(({ name }) => name === outer)
    .flatMap(({ node }) => (member === undefined ? [node] : membersOf(node, member)));
}

function declared(statement: ts.Statement): { readonly name: string; readonly node: ts.Node }[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((node) => ({ name: node.name.getText(), node }));
  }
  const isWhole = ts.isClassDeclaration(statement) || (ts.isFunctionDeclaration(statement) && statement.body);
  return isWhole && statement.name !== undefined ? [{ name: statement.name.text, node: statement }] : [];
}

function membersOf(node: ts.Node, member: string): ts.Node[] {
  if (!ts.isClassDeclaration(node)) return [];
  return node.members.filter((one) => {
    if (ts.isConstructorDeclaration(one)) return member === 'constructor';
    if (ts.isMethodDeclaration(one) && one.body === undefined) return false;
    return one.name?.getText() === member;
  });
}

interface Place {
  readonly from: number;
  readonly to: number;
}

/** Where the snippet occurs, whatever the layout of both. */
function occurrences(text: string, snippet: string): Place[] {
  const [inText, wanted] = [written(text), written(snippet)];
  const places: Place[] = [];
  for (let at = inText.text.indexOf(wanted.text); at >= 0; at = inText.text.indexOf(wanted.text, at + 1)) {
    const [from = 0, last = 0] = [inText.places[at], inText.places[at + wanted.text.length - 1]];
    places.push({ from, to: last + 1 });
  }
  return places;
}

/** The text without spaces, line ends and trailing commas, and the position of each character. */
function written(text: string): { readonly text: string; readonly places: readonly number[] } {
  const places = [...text.matchAll(/\S/g)].map(({ index }) => index);
  const kept = places.filter((place, index) => {
    const next = text[places[index + 1] ?? text.length] ?? '';
    return text[place] !== ',' || !')]}'.includes(next) || next === '';
  });
  return { text: kept.map((place) => text[place]).join(''), places: kept };
}

function mustParse(path: string, text: string): void {
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2023, experimentalDecorators: true },
  });
  const [fault] = diagnostics;
  if (fault !== undefined)
    throw new Error(`${path} does not compile: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
}
