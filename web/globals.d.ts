/** The build makes a script for each language and sets this, so a page loads one language only. */
declare const LANGUAGE: 'en' | 'de'
