/** The page at /docs: Swagger UI with the settings below. `version` changes when a file changes. */
export const referencePage = (version: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mailplane API reference</title>
<link rel="icon" href="/docs/favicon-32x32.png?v=${version}">
<link rel="stylesheet" href="/docs/swagger-ui.css?v=${version}">
<link rel="stylesheet" href="/docs/page.css?v=${version}">
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js?v=${version}"></script>
<script src="/docs/start.js?v=${version}"></script>
</html>
`

// Earlier versions kept API keys in the browser. Only the first group is open and the schemas are
// left out, because drawing all operations takes many seconds. Every field of the authorize dialog
// takes the focus when it appears, so the last one would keep it.
// The parser and the resolver of Swagger UI take half a minute on a busy machine; the description is
// JSON whose references lead into itself, so a few lines do their work.
export const START = `localStorage.removeItem('authorized')
let description
const inlined = (value, within = []) => {
  if (Array.isArray(value)) return value.map((entry) => inlined(entry, within))
  if (value === null || typeof value !== 'object') return value
  const { $ref } = value
  if (typeof $ref !== 'string' || within.includes($ref)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, inlined(inner, within)]))
  }
  const target = $ref.slice(2).split('/').reduce((part, step) => part[step], description)
  return inlined(target, [...within, $ref])
}
const readQuickly = () => ({
  statePlugins: { spec: { wrapActions: {
    parseToJson: (_parse, { specActions }) => (text) => {
      description = JSON.parse(text)
      return specActions.updateJsonSpec(description)
    },
    requestResolvedSubtree: (_request, { specActions, specSelectors }) => (path) => {
      if (specSelectors.specResolvedSubtree(path) !== undefined) return
      const part = path.reduce((value, step) => value?.[step], description)
      specActions.updateResolvedSubtree(path, inlined(part))
    },
  } } },
})
const focusFirstCredential = () => ({
  statePlugins: { auth: { wrapActions: {
    showDefinitions: (show) => (definitions) => {
      const shown = show(definitions)
      setTimeout(() => document.querySelector('.dialog-ux .auth-container input')?.focus())
      return shown
    },
  } } },
})
const reference = SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, persistAuthorization: false,
  tryItOutEnabled: true, displayRequestDuration: true, filter: true, validatorUrl: null,
  docExpansion: 'none', defaultModelsExpandDepth: -1, plugins: [focusFirstCredential, readQuickly],
  onComplete() {
    const first = reference.specSelectors.taggedOperations().keySeq().first()
    if (!location.hash && first) reference.layoutActions.show(['operations-tag', first], true)
  },
  requestInterceptor(request) {
    const cookie = document.cookie.match(/svc_(?:operator_)?csrf=([^;]+)/)
    if (cookie) request.headers['X-CSRF-Token'] = cookie[1]
    return request
  },
})
`

/** Swagger UI is made for wide screens: long paths and tables would make the page scroll sideways. */
export const STYLE = `body { margin: 0; }
@media (max-width: 700px) {
  .swagger-ui .wrapper, .swagger-ui .scheme-container .schemes {
    box-sizing: border-box; max-width: 100vw; padding: 0 8px;
  }
  .swagger-ui .opblock-tag, .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path,
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { flex-basis: 70%; max-width: 100%; }
  .swagger-ui .opblock-summary-path a, .swagger-ui .opblock-tag small,
  .swagger-ui .info .title, .swagger-ui .response-col_description, .swagger-ui .markdown p {
    overflow-wrap: anywhere; word-break: break-word;
  }
  .swagger-ui .opblock-body, .swagger-ui .table-container, .swagger-ui .responses-inner,
  .swagger-ui pre { box-sizing: border-box; max-width: 100%; overflow-x: auto; }
  .swagger-ui table, .swagger-ui tbody, .swagger-ui tr, .swagger-ui td { display: block; }
  .swagger-ui table.parameters thead, .swagger-ui table.responses-table thead { display: none; }
  .swagger-ui input, .swagger-ui select, .swagger-ui textarea {
    box-sizing: border-box; max-width: 100%; min-width: 0;
  }
  .swagger-ui .dialog-ux .modal-ux { max-width: 100vw; min-width: 0; width: 96vw; }
}
`
