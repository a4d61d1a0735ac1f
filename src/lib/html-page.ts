import { escapeHtml } from './safe-html.ts'

/** Markup, as opposed to text of people. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

type Part = string | Html | readonly Html[] | undefined | false

/** Escapes every value that is not markup itself. */
export const html = (texts: TemplateStringsArray, ...values: Part[]): Html =>
  new Html(texts.map((text, at) => (at < values.length ? text + shown(values[at]) : text)).join(''))

function shown(value: Part): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.markup
  if (typeof value === 'string') return escapeHtml(value)
  return value.map(({ markup }) => markup).join('')
}

export const languageOf = (header: string | undefined): 'en' | 'de' =>
  /^\s*de\b/i.test(header ?? '') ? 'de' : 'en'

/** The colours of the web app; see web/ui/tokens.css. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --bg: light-dark(oklch(98.5% 0.003 255), oklch(17% 0.012 255));
  --surface: light-dark(#fff, oklch(21% 0.014 255));
  --line: light-dark(oklch(91% 0.006 255), oklch(31% 0.018 255));
  --control-line: light-dark(oklch(64% 0.015 255), oklch(56% 0.02 255));
  --text: light-dark(oklch(24% 0.02 255), oklch(94% 0.006 255));
  --muted: light-dark(oklch(47% 0.02 255), oklch(73% 0.015 255));
  --bad: light-dark(oklch(47% 0.19 27), oklch(76% 0.14 25));
  --bad-soft: light-dark(oklch(95.5% 0.03 25), oklch(28% 0.07 25));
  --accent: light-dark(oklch(50% 0.19 262), oklch(74% 0.13 262));
  --on-accent: light-dark(#fff, oklch(18% 0.04 262));
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px;
  background: var(--bg); color: var(--text);
  font: 0.9375rem/1.5 ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif;
}
.panel {
  width: min(400px, 100%); display: grid; gap: 16px; padding: 32px;
  background: var(--surface); border: 1px solid var(--line); border-radius: 10px;
}
.brand { margin: 0; font-weight: 600; color: var(--muted); overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.25rem; line-height: 1.3; overflow-wrap: anywhere; }
p, ul { margin: 0; overflow-wrap: anywhere; }
ul { padding-left: 1.25em; display: grid; gap: 4px; }
form { display: grid; gap: 16px; }
label { display: grid; gap: 4px; font-weight: 500; }
input {
  min-height: 36px; padding: 0 10px; font: inherit; color: inherit; background: var(--surface);
  border: 1px solid var(--control-line); border-radius: 6px; width: 100%;
}
.code { font: 1.5rem/1 ui-monospace, Menlo, monospace; letter-spacing: 0.08em; text-align: center; }
button {
  min-height: 38px; padding: 0 16px; font: inherit; font-weight: 500; cursor: pointer;
  color: inherit; background: none; border: 1px solid var(--control-line); border-radius: 6px;
}
button.primary { background: var(--accent); color: var(--on-accent); border-color: transparent; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.muted { color: var(--muted); }
.bad { color: var(--bad); background: var(--bad-soft); padding: 8px 12px; border-radius: 6px; }
@media (max-width: 480px) { .panel { padding: 20px 16px; } }
`
