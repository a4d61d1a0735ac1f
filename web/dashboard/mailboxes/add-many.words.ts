import { number } from '../../lib/format.ts'

const en = {
  title: 'Add many mailboxes',
  lines: 'One mailbox in each line',
  hint: 'address, name, password: jane@acme.example, Jane Doe. Without a password one is made. Paste from a spreadsheet or choose a CSV file.',
  submit: 'Add mailboxes',
  progress: (done: number, total: number) => `${number(done)} of ${number(total)}`,
  progressLabel: 'Progress',
  doneTitle: 'Mailboxes added',
  added: (count: number) => `${number(count)} mailboxes were added.`,
  passwords: 'Addresses and passwords',
  passwordsHint: 'Give each person their own. They are shown only now.',
  failed: (count: number) => `${number(count)} were not added:`,
  address: 'Address',
  name: 'Name',
  password: 'Password',
  own: 'From the line',
  made: 'Made',
  problems: { noAddress: 'Does not start with an address', twice: 'Is there twice' },
  why: 'Why',
}

const de: typeof en = {
  title: 'Viele Postfächer anlegen',
  lines: 'Ein Postfach in jeder Zeile',
  hint: 'Adresse, Name, Passwort: jane@acme.example, Jane Doe. Ohne Passwort wird eines erzeugt. Aus einer Tabelle einfügen oder eine CSV-Datei wählen.',
  submit: 'Postfächer anlegen',
  progress: (done, total) => `${number(done)} von ${number(total)}`,
  progressLabel: 'Fortschritt',
  doneTitle: 'Postfächer angelegt',
  added: (count) => `${number(count)} Postfächer wurden angelegt.`,
  passwords: 'Adressen und Passwörter',
  passwordsHint: 'Geben Sie jeder Person ihres. Sie werden nur jetzt gezeigt.',
  failed: (count) => `${number(count)} wurden nicht angelegt:`,
  address: 'Adresse',
  name: 'Name',
  password: 'Passwort',
  own: 'Aus der Zeile',
  made: 'Wird erzeugt',
  problems: { noAddress: 'Beginnt nicht mit einer Adresse', twice: 'Kommt zweimal vor' },
  why: 'Warum',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
