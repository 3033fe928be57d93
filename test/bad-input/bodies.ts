/** Bodies that are wrong whatever the route wants, and what each is told (decisions 2 and 17). */
import { gzipSync } from 'node:zlib';

export interface WrongBody {
  name: string;
  /** Made of a body the route would take. */
  body(valid: Record<string, unknown>): string | Buffer | readonly Buffer[];
  headers?: Record<string, string>;
  refusal: `${number} ${string}`;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const MB = 1_048_576;

/** The valid object with one more member, written as given. */
const withMember = (member: string) => (valid: Record<string, unknown>) => {
  const text = JSON.stringify(valid);
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${member}}`;
};
const withValue = (value: string) => withMember(`"x":${value}`);
/** The same with bytes that no string holds. */
const withBytes = (...bytes: number[]) => {
  return (valid: Record<string, unknown>) => {
    const [before = '', after = ''] = withMember('"x":"@"')(valid).split('@');
    return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
  };
};
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const as = (type: string) => ({ 'content-type': type });
const plain = (valid: Record<string, unknown>) => Buffer.from(JSON.stringify(valid));

/** White space without a length told beforehand, in small pieces. */
const pieces = (size: number, piece: number): Buffer[] => Array.from({ length: Math.ceil(size / piece) }, () => Buffer.alloc(piece, ' '));

const malformed = (name: string, body: WrongBody['body']): WrongBody => ({ name, body, headers: JSON_TYPE, refusal: '400 invalid_json' });
const refused = (refusal: WrongBody['refusal']) => (name: string, body: WrongBody['body']) => ({ name, body, headers: JSON_TYPE, refusal });
const deep = refused('400 json_too_deep');
const doubled = refused('400 json_duplicate_key');
const unsafe = refused('400 json_unsafe_number');
const broken = refused('400 json_invalid_string');
const forbidden = refused('400 json_forbidden_key');
const shapeless = refused('400 validation_failed');
const large = refused('413 payload_too_large');
const foreign = (name: string, type: string | null, body: WrongBody['body'] = plain): WrongBody => ({
  name,
  body,
  headers: type === null ? {} : as(type),
  refusal: '415 unsupported_media_type',
});
const coded = (name: string, coding: string, body: WrongBody['body']): WrongBody => ({
  name,
  body,
  headers: { ...JSON_TYPE, 'content-encoding': coding },
  refusal: '415 unsupported_media_type',
});

export const WRONG_BODIES: readonly WrongBody[] = [
  malformed('an object without its end', (valid) => JSON.stringify(valid).slice(0, -1)),
  malformed('a comma too many', withMember('"x":1,')),
  malformed('single quotes', () => "{'a':1}"),
  malformed('a comment', (valid) => `/* a comment */${JSON.stringify(valid)}`),
  malformed('two documents', (valid) => `${JSON.stringify(valid)}{}`),
  malformed('a byte order mark', (valid) => `\u{feff}${JSON.stringify(valid)}`),
  malformed('UTF-16', (valid) => Buffer.from(JSON.stringify(valid), 'utf16le')),
  malformed('white space alone', () => ' \n\t '),
  malformed('what only JavaScript reads', withValue('undefined')),
  malformed('not a number', withValue('NaN')),
  malformed('a number of another notation', withValue('0x10')),
  malformed('a leading zero', withValue('01')),
  malformed('a tab in a string', withValue('"\t"')),
  malformed('a form', () => 'template=email-draft&payload='),
  malformed('bytes that are no UTF-8', withBytes(0xff, 0xfe)),
  malformed('an overlong sequence', withBytes(0xc0, 0xaf)),
  malformed('half a sequence', withBytes(0xe2, 0x82)),
  malformed('a surrogate in UTF-8', withBytes(0xed, 0xa0, 0x80)),
  malformed('NUL as a byte', withBytes(0)),
  malformed('gzip that is not claimed', (valid) => gzipSync(JSON.stringify(valid))),
  coded('gzip', 'gzip', (valid) => gzipSync(JSON.stringify(valid))),
  coded('gzip that is none', 'gzip', plain),
  coded('two codings', 'gzip, br', plain),
  coded('a coding nobody knows', 'rot13', plain),
  shapeless('a list', () => '[]'),
  shapeless('a string', () => '"a string"'),
  shapeless('null', () => 'null'),
  shapeless('true', () => 'true'),
  shapeless('a number', () => '7'),
  shapeless('a list of a hundred thousand', () => `[${'0,'.repeat(99_999)}0]`),
  shapeless('a string of a million', () => `"${'x'.repeat(1_000_000)}"`),
  deep('65 levels', withValue(nested(64))),
  deep('20,000 levels', withValue(nested(20_000))),
  deep('65 levels of objects', withValue(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)),
  doubled('a key twice', withMember('"x":1,"x":1')),
  doubled('a key twice, escaped once', withMember('"x":1,"\\u0078":2')),
  doubled('a key twice, deep inside', withValue('[{"a":{"b":1,"c":2,"b":3}}]')),
  unsafe('2^53 + 1', withValue('9007199254740993')),
  unsafe('a number beyond all', withValue('1e400')),
  unsafe('a number below all', withValue('-1e400')),
  unsafe('a number too close to nothing', withValue('1e-400')),
  unsafe('a number of many digits', withValue('0.12345678901234567891')),
  unsafe('a number of a hundred thousand digits', withValue('1'.repeat(100_000))),
  broken('half a surrogate pair', withValue('"\\ud800"')),
  broken('the other half', withValue('"\\udc00\\ud800"')),
  broken('half a surrogate pair in a key', withMember('"\\ud800":1')),
  broken('NUL', withValue('"a\\u0000b"')),
  broken('NUL in a key', withMember('"a\\u0000":1')),
  forbidden('__proto__', withMember('"__proto__":{"admin":true}')),
  forbidden('__proto__, escaped', withMember('"\\u005f\\u005fproto\\u005f\\u005f":{}')),
  forbidden('__proto__ deep inside', withValue('[{"__proto__":1}]')),
  large('a byte more than a megabyte', (valid) => JSON.stringify(valid).padEnd(MB + 1)),
  large('a megabyte in small pieces, and one more', () => pieces(MB + 64, 1_024)),
  foreign('plain text', 'text/plain'),
  foreign('XML', 'application/xml', () => '<a/>'),
  foreign('a form that says so', 'application/x-www-form-urlencoded', () => 'a=b'),
  foreign('parts', 'multipart/form-data; boundary=x', () => '--x--'),
  foreign('UTF-16 that says so', 'application/json; charset=utf-16', (valid) => Buffer.from(JSON.stringify(valid), 'utf16le')),
  foreign('Latin 1', 'application/json; charset=iso-8859-1'),
  foreign('a type that is none', ';;;'),
  foreign('no type', null),
];
