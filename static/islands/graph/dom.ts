// Small helpers to build elements without HTML strings, so that a strict content
// security policy holds and text is always text.

type Props = Record<string, string | number | boolean | null | undefined | ((e: never) => void)>;
type Child = Node | string | null | undefined | false;

const svgSpace = 'http://www.w3.org/2000/svg';

/** An element with attributes; `on…` functions become listeners, false and null leave an attribute out. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(svgSpace, tag) as SVGElementTagNameMap[K], props, children);
}

function fill<E extends Element>(element: E, props: Props, children: Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** Sets a data attribute only where it differs, since even an equal value costs; undefined takes it away. */
export function setData(element: HTMLElement | SVGElement, name: string, value: string | undefined): void {
  if (element.dataset[name] === value) return;
  if (value) element.dataset[name] = value;
  else delete element.dataset[name];
}
