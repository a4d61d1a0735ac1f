const en = {
  title: 'Suppressions',
  hint: 'Nothing is sent to these addresses: mail bounced, the person complained or unsubscribed, or they were added here.',
  until: 'Until',
  lifted: 'Lifted',
  state: 'In force',
  states: 'Lifted ones',
  forever: 'No end',
  add: 'Add address',
  addFirst: 'Add the first address',
  reasonHint: 'For you and your colleagues, e.g. asked for by telephone',
  added: (email: string) => `Nothing more is sent to ${email}`,
}

const de: typeof en = {
  title: 'Sperrliste',
  hint: 'An diese Adressen wird nichts gesendet: Mail kam zurück, die Person hat sich beschwert oder abgemeldet, oder jemand hat sie hier eingetragen.',
  until: 'Bis',
  lifted: 'Aufgehoben',
  state: 'In Kraft',
  states: 'Aufgehobene',
  forever: 'Ohne Ende',
  add: 'Adresse eintragen',
  addFirst: 'Erste Adresse eintragen',
  reasonHint: 'Für Sie und Ihre Kollegen, z. B. telefonisch gewünscht',
  added: (email) => `An ${email} wird nichts mehr gesendet`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
