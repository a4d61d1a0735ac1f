/** Converts an item of any type to text; `String()` throws on some objects. */
export const itemText = (item: unknown): string =>
  typeof item === 'string' ? item : JSON.stringify(item)
