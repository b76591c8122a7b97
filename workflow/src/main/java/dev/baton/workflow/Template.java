package dev.baton.workflow;

/**
 * A parameter's value, with <code>${{ }}</code> expressions in it.
 *
 * @param json the value as it stands in the definition, a JSON text
 */
public record Template(String json) {
  /** Whether the value is the JSON text itself. */
  public boolean isConstant() {
    return !json.contains(TemplateText.OPEN);
  }
}
