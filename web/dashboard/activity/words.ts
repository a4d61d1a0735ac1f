const en = {
  title: 'Activity',
  search: 'Search by name or address',
  what: 'What',
  subject: 'About',
  /** Areas that have no screen of their own. */
  areas: {
    auth: 'Passwords and keys',
    storage: 'Storage',
    security: 'Security',
    org: 'Organization',
  } as Record<string, string>,
  anyArea: 'Everything',
  kinds: { operator: 'By your mail provider' },
  anyKind: 'By anybody',
  /** Only for languages other than that of the API: endings of names of events. */
  events: {} as Record<string, string>,
  none: 'Nothing has happened yet',
  noneHint:
    'Changes to mailboxes, domains and people appear here, and what your mail provider changes.',
}

const de: typeof en = {
  title: 'Verlauf',
  search: 'Name oder Adresse suchen',
  what: 'Was',
  subject: 'Betrifft',
  areas: {
    auth: 'Passwörter und Schlüssel',
    storage: 'Speicher',
    security: 'Sicherheit',
    org: 'Organisation',
  },
  anyArea: 'Alles',
  kinds: { operator: 'Durch Ihren Mailanbieter' },
  anyKind: 'Durch alle',
  events: {
    created: 'angelegt',
    added: 'hinzugefügt',
    updated: 'geändert',
    deleted: 'gelöscht',
    suspended: 'gesperrt',
    activated: 'aktiviert',
    verified: 'geprüft',
    invited: 'eingeladen',
    joined: 'beigetreten',
    started: 'begonnen',
    completed: 'beendet',
    failed: 'gescheitert',
    cancelled: 'abgebrochen',
    'password.changed': 'neues Passwort',
    'quota.changed': 'Kontingent geändert',
    'api_key.created': 'API-Schlüssel angelegt',
    'api_key.revoked': 'API-Schlüssel widerrufen',
  },
  none: 'Noch ist nichts geschehen',
  noneHint:
    'Hier erscheinen Änderungen an Postfächern, Domains und Personen, und was Ihr Mailanbieter ändert.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
