/** What stands where a name belongs, as text; some objects cannot be converted and would throw. */
export const itemText = (item: unknown): string =>
  typeof item === 'string' ? item : JSON.stringify(item)
