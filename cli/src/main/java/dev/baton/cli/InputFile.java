package dev.baton.cli;

import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.workflow.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads the file of a command, within the limit of a definition. */
final class InputFile {
  private static final int MAX_BYTES = Limits.TEXT_BYTES;

  private InputFile() {}

  /** The text of a file, or of standard input for {@code -}. */
  static String read(Context context, String name) {
    try {
      byte[] bytes;
      if (name.equals("-")) {
        bytes = System.in.readNBytes(MAX_BYTES + 1);
      } else {
        Path path = context.resolve(Path.of(name));
        if (Files.isDirectory(path)) {
          throw refused(name + " is a folder; a workflow is one file, YAML or JSON", null);
        }
        try (InputStream in = Files.newInputStream(path)) {
          bytes = in.readNBytes(MAX_BYTES + 1);
        }
      }
      if (bytes.length > MAX_BYTES) {
        throw refused(
            name + " is over the limit of 1 MiB for a definition: split it, or move data out of it",
            null);
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (NoSuchFileException e) {
      throw refused("there is no file " + name + " in " + context.directory(), e);
    } catch (AccessDeniedException e) {
      throw refused("you may not read " + name + ": check its permissions", e);
    } catch (CharacterCodingException e) {
      throw refused(name + " is not UTF-8 text: a workflow is YAML or JSON in UTF-8", e);
    } catch (IOException e) {
      throw refused(name + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static ExitException refused(String sentence, @Nullable Throwable cause) {
    return new ExitException(ExitCode.USAGE, sentence, cause);
  }
}
