interface StarterTemplate {
  id: string
  name: string
  description: string
  category: 'transactional' | 'marketing' | 'notification'
  subject: string
  html: string
  variables: string[]
}

/** A mail of one column, in MJML. */
const page = (...parts: string[]): string =>
  [
    '<mjml>',
    '  <mj-head>',
    '    <mj-attributes>',
    '      <mj-all font-family="Helvetica, Arial, sans-serif" color="#1f2933" />',
    '      <mj-text font-size="16px" line-height="24px" />',
    '      <mj-button background-color="#1f5fbf" color="#ffffff" font-size="16px" />',
    '    </mj-attributes>',
    '  </mj-head>',
    '  <mj-body background-color="#f3f5f7">',
    '    <mj-section background-color="#ffffff">',
    '      <mj-column>',
    ...parts.map((part) => `        ${part}`),
    '      </mj-column>',
    '    </mj-section>',
    '  </mj-body>',
    '</mjml>',
    '',
  ].join('\n')

const text = (html: string) => `<mj-text>${html}</mj-text>`
const button = (link: string, label: string) =>
  `<mj-button href="{{ ${link} | url }}">${label}</mj-button>`

const GREETING = text('Hello {{ name | default: "there" }},')

/** Built-in templates that callers copy and change. */
export const library: readonly StarterTemplate[] = [
  {
    id: 'welcome',
    name: 'Welcome',
    description: 'Greets a new user and leads to the first step',
    category: 'transactional',
    subject: 'Welcome to {{ company }}',
    html: page(
      GREETING,
      text('Your account at {{ company }} is ready.'),
      button('login_url', 'Sign in'),
    ),
    variables: ['name', 'company', 'login_url'],
  },
  {
    id: 'password_reset',
    name: 'Password reset',
    description: 'A link to choose a new password',
    category: 'transactional',
    subject: 'Choose a new password',
    html: page(
      GREETING,
      text('Somebody asked for a new password for your account. The link is valid for one hour.'),
      button('reset_url', 'Choose a new password'),
      text('If it was not you, you need not do anything.'),
    ),
    variables: ['name', 'reset_url'],
  },
  {
    id: 'invoice',
    name: 'Invoice',
    description: 'Items, total and a link to the invoice',
    category: 'transactional',
    subject: 'Invoice {{ number }} of {{ company }}',
    html: page(
      GREETING,
      text('Thank you for your order. This is invoice {{ number }}.'),
      text(
        '{% for item in items %}{{ item.quantity }} × {{ item.name }}: {{ item.price }}<br />{% endfor %}',
      ),
      text('<strong>Total: {{ total }}</strong>'),
      button('invoice_url', 'Open the invoice'),
    ),
    variables: ['name', 'company', 'number', 'items', 'total', 'invoice_url'],
  },
  {
    id: 'newsletter',
    name: 'Newsletter',
    description: 'Several articles with links',
    category: 'marketing',
    subject: '{{ title }}',
    html: page(
      text('<h1>{{ title }}</h1>'),
      text(
        '{% for article in articles %}<h2>{{ article.title }}</h2><p>{{ article.summary }}</p><p><a href="{{ article.url | url }}">Read on</a></p>{% endfor %}',
      ),
    ),
    variables: ['title', 'articles'],
  },
  {
    id: 'notification',
    name: 'Notification',
    description: 'One message with an optional link',
    category: 'notification',
    subject: '{{ title }}',
    html: page(
      text('<strong>{{ title }}</strong>'),
      text('{{ message }}'),
      text('{% if url %}<a href="{{ url | url }}">Show details</a>{% endif %}'),
    ),
    variables: ['title', 'message', 'url'],
  },
]
