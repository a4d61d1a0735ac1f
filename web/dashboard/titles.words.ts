// Titles of the screens whose other texts are loaded on demand (later.tsx): the navigation has them.
const en = {
  archive: 'Archive',
  keys: 'Keys',
  links: 'Link protection',
  migration: 'Migration',
  reports: 'Reports',
  report: 'Report',
  search: 'Search',
  searchIndex: 'Search index',
  templates: 'Templates',
  template: 'Template',
  transportRules: 'Transport rules',
  transportRule: 'Transport rule',
  newTransportRule: 'New transport rule',
}

const de: typeof en = {
  archive: 'Archiv',
  keys: 'Schlüssel',
  links: 'Linkschutz',
  migration: 'Umzug',
  reports: 'Berichte',
  report: 'Bericht',
  search: 'Suche',
  searchIndex: 'Suchindex',
  templates: 'Vorlagen',
  template: 'Vorlage',
  transportRules: 'Transportregeln',
  transportRule: 'Transportregel',
  newTransportRule: 'Neue Transportregel',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
