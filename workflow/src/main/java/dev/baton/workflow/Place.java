package dev.baton.workflow;

import org.jspecify.annotations.Nullable;

/** A path to a value, written only when somebody asks for it. */
record Place(@Nullable Place parent, @Nullable String name, int index) {
  static final Place ROOT = new Place(null, null, 0);

  Place field(String field) {
    return new Place(this, field, 0);
  }

  Place item(int position) {
    return new Place(this, null, position);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    write(text);
    return text.toString();
  }

  private void write(StringBuilder text) {
    if (parent == null) {
      return;
    }
    parent.write(text);
    if (name == null) {
      text.append('[').append(index).append(']');
    } else {
      text.append(text.isEmpty() ? "" : ".").append(Words.shorten(name, 80));
    }
  }
}
