// Where the characters of a YAML text's value stand in its source: quotes, escapes,
// folding and indentation are stepped over. Pure.

const escapes: Record<string, number> = { x: 4, u: 6, U: 10 };
const isSpace = (c: string | undefined): boolean => c === ' ' || c === '\n' || c === '\t' || c === '\r';

/** The place in the source of each character of the value, and one for its end. What is no space is exact. */
export function placesOf(source: string, value: string): number[] {
  const quote = source[0] === '"' || source[0] === "'" ? source[0] : '';
  const isBlock = source[0] === '|' || source[0] === '>';
  let at = isBlock ? source.indexOf('\n') + 1 : quote.length;
  const escaped = (): boolean => quote === '"' && source[at] === '\\' && source[at + 1] !== '\n';
  const step = (): number => (escaped() ? (escapes[source[at + 1]!] ?? 2) : quote === "'" && source[at] === "'" ? 2 : 1);
  const places: number[] = [];
  for (let i = 0; i < value.length; i++) {
    const c = value[i]!;
    if (!isSpace(c)) while (isSpace(source[at]) || (quote === '"' && source.startsWith('\\\n', at))) at++;
    places.push(at);
    if (!isSpace(c) || escaped() || source[at] === c) at += step();
  }
  return [...places, at];
}

/** The stretch of the value that a stretch of the source stands for; at least one character. */
export function within(source: string, value: string, from: number, to: number): { from: number; to: number } {
  const places = placesOf(source, value);
  const index = (place: number): number => {
    const found = places.findIndex((p) => p >= place);
    return found < 0 ? value.length : found;
  };
  const start = Math.min(index(from), Math.max(0, value.length - 1));
  return { from: start, to: Math.min(value.length, Math.max(start + 1, index(to))) };
}
