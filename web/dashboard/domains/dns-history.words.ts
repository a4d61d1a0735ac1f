const en = {
  title: 'History of DNS checks',
  looked: 'Looked at DNS last',
  every: 'Once the ownership is proven, every six hours.',
  none: 'No check yet. Use “Check now” above.',
  checks: { mx: 'MX', spf: 'SPF', dkim: 'DKIM', dmarc: 'DMARC', ownership: 'Ownership' },
  became: {
    pass: (what: string) => `${what} is in place`,
    missing: (what: string) => `${what} went missing`,
    different: (what: string) => `${what} was changed to another value`,
    unknown: (what: string) => `${what} is not known`,
  },
  firstAllPass: 'First check: all records were in place',
  first: (missing: string) => `First check: missing or different: ${missing}`,
}

const de: typeof en = {
  title: 'Verlauf der DNS-Prüfungen',
  looked: 'Zuletzt im DNS nachgesehen',
  every: 'Nach dem Besitznachweis alle sechs Stunden.',
  none: 'Noch keine Prüfung. Oben auf „Jetzt prüfen“ drücken.',
  checks: { mx: 'MX', spf: 'SPF', dkim: 'DKIM', dmarc: 'DMARC', ownership: 'Besitznachweis' },
  became: {
    pass: (what) => `${what} ist vorhanden`,
    missing: (what) => `${what} fehlt seitdem`,
    different: (what) => `${what} hat einen anderen Wert bekommen`,
    unknown: (what) => `${what} ist nicht bekannt`,
  },
  firstAllPass: 'Erste Prüfung: alle Einträge waren vorhanden',
  first: (missing) => `Erste Prüfung: fehlend oder anders: ${missing}`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
