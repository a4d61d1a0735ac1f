// Code for the page is text: the tests are compiled without the types of a browser.

/** Checks that the focused element shows its focus and is big enough to hit (WCAG 2.5.8). */
export const FOCUS_OF = `(element) => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
  const { width, height } = element.getBoundingClientRect()
  return {
    name: element.outerHTML.slice(0, 120),
    ring: (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none',
    big: (width >= 24 && height >= 24) || element.closest('p, label, li, td, .hidden') !== null ||
      // The words beside a check box are clicked too.
      (element.type === 'checkbox' && element.labels.length > 0),
  }
}`
