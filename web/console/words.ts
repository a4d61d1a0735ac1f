const en = {
  brand: 'Mailplane console',
  groups: {
    tenants: 'Tenants',
    mail: 'Mail',
    security: 'Security',
    system: 'System',
    people: 'People',
  },
  organization: 'Organization',
  organizationHint: 'Type a part of the name and choose; the id is stored.',
  message: 'Message',
  mailTo: 'Mail to',
  request: 'Log lines of a request',
}

const de: typeof en = {
  brand: 'Mailplane-Konsole',
  groups: {
    tenants: 'Mandanten',
    mail: 'Mail',
    security: 'Sicherheit',
    system: 'System',
    people: 'Personen',
  },
  organization: 'Organisation',
  organizationHint: 'Teil des Namens eingeben und auswählen; gespeichert wird die Kennung.',
  message: 'Nachricht',
  mailTo: 'Mail an',
  request: 'Protokollzeilen einer Anfrage',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
